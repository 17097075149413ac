CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT * FROM bid QUALIFY DENSE_RANK() OVER (PARTITION BY auction ORDER BY price) <= 3;
SELECT auction, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY at) AS rn FROM bid QUALIFY rn = 1 AND auction > 5;
SELECT window.start, auction, COUNT(*) AS n FROM bid GROUP BY window(at, '10 seconds'), auction HAVING COUNT(*) > 1
QUALIFY RANK() OVER (PARTITION BY window.start ORDER BY COUNT(*) DESC) = 1;
SELECT auction, COUNT(*) AS n FROM bid GROUP BY window(at, '10 seconds'), auction
QUALIFY ROW_NUMBER() OVER (PARTITION BY window(at, '10 seconds') ORDER BY n DESC, auction) <= 3;
SELECT auction FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY window(at, '10 seconds') ORDER BY price) = 1;
