CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT a.id, b.price, c.name
FROM auction AS a
JOIN bid AS b ON a.id = b.auction AND b.price > 10
CROSS JOIN category AS c
WHERE a.category = c.id AND a.seller = 7 AND b.at BETWEEN a.opened AND a.opened + INTERVAL 1 HOUR;
