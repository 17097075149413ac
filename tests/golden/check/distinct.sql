CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT DISTINCT auction, bidder FROM bid;
