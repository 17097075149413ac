-- Query 8, monitor new users: who came and opened an auction within the same 10 seconds?

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
CREATE SINK q8 USING parquet LOCATION 'out/q8';

INSERT INTO q8
SELECT p.id, p.name, p.starttime
FROM (
  SELECT id, name, window.start AS starttime, window.end AS endtime
  FROM person GROUP BY id, name, window(date_time, '10 seconds')
) AS p
JOIN (
  SELECT seller, window.start AS starttime, window.end AS endtime
  FROM auction GROUP BY seller, window(date_time, '10 seconds')
) AS a
ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime;
