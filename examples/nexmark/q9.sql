-- Query 9, winning bids: the highest bid of every auction, when no more bid for it can come.

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
CREATE SINK q9 USING parquet LOCATION 'out/q9';

INSERT INTO q9
SELECT id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra,
  auction, bidder, price, bid_time, bid_extra
FROM (
  SELECT a.id, a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category,
    a.extra, b.auction, b.bidder, b.price, b.date_time AS bid_time, b.extra AS bid_extra,
    ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) AS place
  FROM auction AS a JOIN bid AS b ON a.id = b.auction
  WHERE b.date_time BETWEEN a.date_time AND a.expires
) AS ranked
WHERE place <= 1;
