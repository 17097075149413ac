CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT id FROM auction EXCEPT SELECT auction FROM bid;
