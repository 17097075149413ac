-- A finite first side keeps little, but nothing ever says that the stream lacks a row.
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP) USING json LOCATION 'auction';
SELECT id FROM category EXCEPT SELECT category FROM auction;
