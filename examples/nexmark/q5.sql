-- Query 5, hot items: which auctions got the most bids in the last 10 seconds, every 2 seconds?

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q5 USING parquet LOCATION 'out/q5';

INSERT INTO q5
SELECT counted.auction, counted.num, counted.starttime
FROM (
  SELECT auction, COUNT(*) AS num, window.start AS starttime
  FROM bid GROUP BY auction, window(date_time, '10 seconds', '2 seconds')
) AS counted
JOIN (
  SELECT MAX(each.num) AS maxn, each.starttime
  FROM (
    SELECT auction, COUNT(*) AS num, window.start AS starttime
    FROM bid GROUP BY auction, window(date_time, '10 seconds', '2 seconds')
  ) AS each
  GROUP BY each.starttime
) AS most
ON counted.starttime = most.starttime AND counted.num >= most.maxn;
