CREATE STREAM bid (auction BIGINT, bidder BIGINT, channel INT, price BIGINT, at TIMESTAMP NOT NULL, PUNCTUATED BY (auction), ORDERED BY (at), CHECK (channel BETWEEN 1 AND 4)) USING json LOCATION 'bid';
SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) <= 10;
SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction, bidder ORDER BY at) = 1;
SELECT *, DENSE_RANK() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid WHERE auction IS NOT NULL;
SELECT window.start, auction, COUNT(*) AS n FROM bid GROUP BY window(at, '10 seconds'), auction
QUALIFY RANK() OVER (PARTITION BY window.start ORDER BY COUNT(*) DESC) = 1;
