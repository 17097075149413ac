CREATE STREAM bid (auction BIGINT, bidder BIGINT, price BIGINT, at TIMESTAMP, seen TIMESTAMP,
  PUNCTUATED BY (auction), ORDERED BY (seen)) USING json LOCATION 'bid';
SELECT auction, COUNT(*) AS n FROM bid GROUP BY session_window(at, '10 seconds'), auction;
SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid;
SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction ORDER BY price) = 1;
SELECT * FROM bid QUALIFY DENSE_RANK() OVER (PARTITION BY auction ORDER BY price) <= 3;
SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY at) AS total FROM bid;
-- a row without a time would wait for the end of its partition
SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY seen NULLS LAST ROWS 3 PRECEDING) AS total FROM bid;
SELECT auction, MEDIAN(price) AS middle FROM bid GROUP BY auction;
