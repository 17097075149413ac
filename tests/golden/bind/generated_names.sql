CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT price * 2, b.price + 1, CASE WHEN price > 1 THEN 'high' END, UPPER('x'), CAST(price AS INT) FROM bid AS b;
