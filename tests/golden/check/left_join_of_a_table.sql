-- Bounded, but a category without an auction is never certain.
CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP) USING json LOCATION 'auction';
SELECT c.name, a.id FROM category AS c LEFT JOIN auction AS a ON c.id = a.category;
