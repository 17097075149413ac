-- Query 0, pass through: every bid as it is. Shows what reading and writing costs.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q0 USING parquet LOCATION 'out/q0';

INSERT INTO q0
SELECT auction, bidder, price, date_time, extra FROM bid;
