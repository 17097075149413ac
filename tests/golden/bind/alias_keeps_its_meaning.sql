CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT price + 1 AS p, p * 2 AS q, NOT price > 1 AS low, low = TRUE AS same FROM bid;
SELECT auction, MAX(price) + 1 AS top FROM bid GROUP BY auction HAVING top * 2 > 5;
