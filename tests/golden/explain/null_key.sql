CREATE STREAM bid (auction BIGINT, price BIGINT, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT auction, COUNT(*) AS n FROM bid GROUP BY session_window(at, '10 seconds'), auction;
SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction ORDER BY price) = 1;
