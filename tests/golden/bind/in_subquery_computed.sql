CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT id FROM auction WHERE opened IN (SELECT at + INTERVAL 1 HOUR FROM bid WHERE bidder = seller);
