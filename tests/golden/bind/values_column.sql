CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT * FROM bid, VALUES (price) AS t (p);
