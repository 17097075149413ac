-- Query 14, calculation: bids of some prices, by the time of day, and how many c are in their text.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q14 USING parquet LOCATION 'out/q14';

INSERT INTO q14
SELECT auction, bidder, 0.908 * price AS price,
  CASE
    WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
    WHEN hour(date_time) <= 6 OR hour(date_time) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END AS bid_time_type,
  date_time, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
