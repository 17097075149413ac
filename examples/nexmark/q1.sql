-- Query 1, currency conversion: the price of every bid in euros.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q1 USING parquet LOCATION 'out/q1';

INSERT INTO q1
SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid;
