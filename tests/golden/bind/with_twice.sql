CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
WITH w AS (SELECT price FROM bid), W AS (SELECT price FROM bid) SELECT price FROM w;
