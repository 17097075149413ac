CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP NOT NULL, seen TIMESTAMP,
  PUNCTUATED BY (auction), ORDERED BY (at WITHIN INTERVAL 5 SECONDS), ORDERED BY (seen)
) USING json LOCATION 'bid';
SELECT bidder, at, SUM(price) OVER (PARTITION BY bidder ORDER BY at) AS total FROM bid;
SELECT bidder, at, SUM(price) OVER (PARTITION BY bidder ORDER BY seen) AS total FROM bid;
SELECT bidder, at, LAG(price) OVER (PARTITION BY bidder ORDER BY price) AS less FROM bid;
SELECT bidder, at, LAG(price) OVER (ORDER BY at DESC) AS later FROM bid;
