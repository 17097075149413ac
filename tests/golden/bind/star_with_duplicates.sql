CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT * FROM auction JOIN category ON auction.category = category.id;
