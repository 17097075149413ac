CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
SELECT SUM(name) AS s FROM category;
