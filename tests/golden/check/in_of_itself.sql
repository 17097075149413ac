CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT auction, price FROM bid WHERE auction IN (SELECT auction FROM bid WHERE price > 100);
