CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP,
  UNIQUE (id),
  PUNCTUATED BY (seller),
  ORDERED BY (opened WITHIN INTERVAL 5 SECONDS),
  CHECK (category BETWEEN 10 AND 14)
) USING parquet LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);

CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'data/category';

SELECT a.id, c.name FROM auction AS a JOIN category AS c ON a.category = c.id;
