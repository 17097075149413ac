CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT b.price FROM bid AS b WHERE EXISTS (SELECT 1 FROM bid AS c, bid AS b WHERE b.price > 10 AND c.bidder = b.bidder) AND auction IN (SELECT auction FROM bid AS b);
