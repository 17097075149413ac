CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP NOT NULL, seen TIMESTAMP,
  PUNCTUATED BY (auction), ORDERED BY (at WITHIN INTERVAL 5 SECONDS), ORDERED BY (seen)
) USING json LOCATION 'bid';
SELECT bidder, at, AVG(price) OVER (PARTITION BY bidder ORDER BY at
  RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW) AS mean FROM bid;
SELECT auction, at, SUM(price) OVER (PARTITION BY auction ORDER BY at) AS total,
  LAG(price, 2) OVER (PARTITION BY auction ORDER BY at) AS before FROM bid;
SELECT auction, at, MAX(price) OVER (ORDER BY at ROWS 3 PRECEDING) AS most FROM bid;
SELECT auction, COUNT(*) OVER (PARTITION BY auction ORDER BY price DESC) AS dearer FROM bid WHERE auction IS NOT NULL;
SELECT COUNT(*) AS n, minute FROM (SELECT date_trunc('minute', at) AS minute,
  LAG(price) OVER (PARTITION BY auction ORDER BY at) AS before FROM bid) GROUP BY minute;
