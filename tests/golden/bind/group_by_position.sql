CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT bidder, HOUR(at) AS hour, COUNT(*) AS n FROM bid GROUP BY 1, 2;
