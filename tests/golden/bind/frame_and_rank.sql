CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), day DATE NOT NULL, at TIMESTAMP NOT NULL,
  PUNCTUATED BY (auction), ORDERED BY (at WITHIN INTERVAL 5 SECONDS)
) USING json LOCATION 'bid';
SELECT auction, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY at) AS n,
  SUM(total) OVER (PARTITION BY auction ORDER BY at) AS running
FROM (SELECT auction, at, SUM(price) AS total FROM bid GROUP BY auction, at);
