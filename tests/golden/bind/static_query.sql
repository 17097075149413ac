CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT name FROM category WHERE id > 3;
