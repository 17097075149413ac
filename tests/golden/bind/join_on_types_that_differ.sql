CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT a.id FROM auction AS a JOIN category AS c ON a.category = c.name;
