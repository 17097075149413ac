-- Query 23, expand bid with person and auction: the bids of those who sell, with all that they sell.

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
CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q23 USING parquet LOCATION 'out/q23';

INSERT INTO q23
SELECT b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra,
  p.id AS person_id, p.name, p.email_address, p.credit_card, p.city, p.state, p.extra AS person_extra,
  a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category,
  a.extra AS auction_extra
FROM bid AS b JOIN person AS p ON p.id = b.bidder JOIN auction AS a ON a.seller = b.bidder;
