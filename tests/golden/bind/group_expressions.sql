CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT DATE(at) AS day, auction % 10 AS bucket, MAX(price * 2) + 1 AS top, COUNT(1) AS n
FROM bid GROUP BY day, auction % 10 HAVING top > 5 AND COUNT(*) > 1 AND MAX(price * 2) < 100;
