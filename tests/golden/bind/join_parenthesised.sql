CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT c.name FROM category AS c JOIN (auction AS a JOIN bid AS b ON a.id = b.auction) ON c.id = a.category;
