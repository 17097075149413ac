CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT RANK(price) OVER (ORDER BY at) AS n FROM bid;
