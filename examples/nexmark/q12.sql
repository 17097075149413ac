-- Query 12, processing time windows: how many bids does each bidder make in 10 seconds?
-- By the time of the bids, not by the clock of the machine: the same rows have the same result.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q12 USING parquet LOCATION 'out/q12';

INSERT INTO q12
SELECT bidder, COUNT(*) AS bid_count, window.start AS starttime, window.end AS endtime
FROM bid GROUP BY bidder, window(date_time, '10 seconds');
