CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, PUNCTUATED BY (seller)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (bidder)) USING json LOCATION 'bid';
SELECT seller FROM auction UNION SELECT bidder FROM bid;
SELECT seller FROM auction UNION ALL SELECT bidder FROM bid;
