-- Query 7, highest bid: the bids with the highest price of every 10 seconds.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q7 USING parquet LOCATION 'out/q7';

INSERT INTO q7
SELECT b.auction, b.bidder, b.price, b.date_time, b.extra
FROM bid AS b
JOIN (
  SELECT MAX(price) AS maxprice, window.end AS endtime
  FROM bid GROUP BY window(date_time, '10 seconds')
) AS m
ON b.price = m.maxprice
WHERE b.date_time BETWEEN m.endtime - INTERVAL 10 SECONDS AND m.endtime;
