CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), day DATE NOT NULL, at TIMESTAMP NOT NULL,
  PUNCTUATED BY (auction), ORDERED BY (at WITHIN INTERVAL 5 SECONDS)
) USING json LOCATION 'bid';
SELECT auction, price - LAG(price, 1, 0) OVER (PARTITION BY auction ORDER BY at, bidder DESC) AS more,
  SUM(price) OVER (PARTITION BY auction ORDER BY at) AS total,
  FIRST_VALUE(price) IGNORE NULLS OVER (PARTITION BY auction ORDER BY at, bidder DESC) AS first,
  MAX(price + 1) OVER (PARTITION BY auction ORDER BY at, bidder DESC ROWS 3 PRECEDING) AS most
FROM bid QUALIFY more > 0;
