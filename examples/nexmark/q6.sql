-- Query 6, average selling price by seller: of the last auctions of each, the one at hand and 10 before it.
-- The auctions of a seller are in the order in which they were opened, since that is what the streams promise an order
-- of. An auction counts when it is closed.

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
CREATE SINK q6 USING parquet LOCATION 'out/q6';

INSERT INTO q6
SELECT q.seller, q.id,
  AVG(q.price) OVER (PARTITION BY q.seller ORDER BY q.date_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS mean
FROM (
  SELECT a.id, a.seller, a.date_time, MAX(b.price) AS price
  FROM auction AS a JOIN bid AS b ON a.id = b.auction
  WHERE b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.seller, a.date_time
) AS q;
