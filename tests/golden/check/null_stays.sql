CREATE STREAM bid (auction BIGINT, bidder BIGINT, price BIGINT, at TIMESTAMP, seen TIMESTAMP NOT NULL,
  PUNCTUATED BY (auction), ORDERED BY (seen)) USING json LOCATION 'bid';
-- NULL is one group, and three rows of a partition
SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction;
SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) <= 3;
-- time closes them
SELECT auction, COUNT(*) AS n FROM bid GROUP BY session_window(seen, '10 seconds'), auction;
SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY seen) AS n FROM bid;
SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction ORDER BY seen) <= 2;
SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY seen ROWS 3 PRECEDING) AS total FROM bid;
-- there are none
SELECT auction, COUNT(*) AS n FROM bid WHERE auction IS NOT NULL GROUP BY session_window(at, '10 seconds'), auction;
SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid WHERE auction > 0;
SELECT auction, MEDIAN(price) AS middle FROM bid WHERE auction IS NOT NULL GROUP BY auction;
