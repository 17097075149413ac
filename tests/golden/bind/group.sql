CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT auction, SUM(price) AS total, AVG(price) AS mean, COUNT(*) AS n, COUNT(bidder) AS bidders, MIN(at) AS first, MAX(at) AS last FROM bid GROUP BY auction;
