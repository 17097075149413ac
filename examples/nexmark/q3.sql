-- Query 3, local item suggestion: who sells in category 10, in three states, and which auctions?

CREATE STREAM person (
  id BIGINT NOT NULL, name STRING, email_address STRING, credit_card STRING, city STRING, state STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  UNIQUE (id), ORDERED BY (date_time)
) USING parquet LOCATION 'data/person' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM auction (
  id BIGINT NOT NULL, item_name STRING, description STRING, initial_bid BIGINT, reserve BIGINT,
  date_time TIMESTAMP NOT NULL, expires TIMESTAMP, seller BIGINT NOT NULL, category BIGINT, extra STRING,
  UNIQUE (id), PUNCTUATED BY (seller), ORDERED BY (date_time), CHECK (category BETWEEN 10 AND 14)
) USING parquet LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q3 USING parquet LOCATION 'out/q3';

INSERT INTO q3
SELECT p.name, p.city, p.state, a.id
FROM auction AS a JOIN person AS p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');
