CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';

INSERT INTO winners
SELECT a.id, MAX(b.price) AS price
FROM auction AS a JOIN bid AS b ON a.id = b.auction
GROUP BY a.id;
