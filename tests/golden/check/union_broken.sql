-- The distinct of a union needs the same column closed on both sides.
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, PUNCTUATED BY (seller)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP) USING json LOCATION 'bid';
SELECT seller FROM auction UNION SELECT bidder FROM bid;
