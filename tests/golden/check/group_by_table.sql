CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP) USING json LOCATION 'auction';
SELECT c.name, COUNT(*) AS n FROM auction AS a JOIN category AS c ON a.category = c.id GROUP BY c.name;
