-- Query 4, average price for a category: the mean of the winning prices of all closed auctions.
-- A category is never over, so its current mean comes out whenever it has changed.

CREATE STREAM auction (
  id BIGINT NOT NULL, item_name STRING, description STRING, initial_bid BIGINT, reserve BIGINT,
  date_time TIMESTAMP NOT NULL, expires TIMESTAMP, seller BIGINT NOT NULL, category BIGINT, extra STRING,
  UNIQUE (id), PUNCTUATED BY (seller), ORDERED BY (date_time), CHECK (category BETWEEN 10 AND 14)
) USING parquet LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q4 USING parquet LOCATION 'out/q4';

INSERT INTO q4
SELECT q.category, AVG(q.final) AS mean
FROM (
  SELECT a.id, a.category, MAX(b.price) AS final
  FROM auction AS a JOIN bid AS b ON a.id = b.auction
  WHERE b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.category
) AS q
GROUP BY q.category
EMIT CHANGES;
