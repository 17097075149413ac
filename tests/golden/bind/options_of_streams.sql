CREATE SINK out USING json LOCATION 'out' OPTIONS (compression 'gzip', release 'INTERVAL 1 DAY');
CREATE TABLE category (id INT) USING csv LOCATION 'category' OPTIONS (closes 'id 5');
