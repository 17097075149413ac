-- The window lets auctions go; bids leave when auction closes their id.
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, ORDERED BY (opened), UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction [RANGE INTERVAL 12 HOURS] AS a JOIN bid AS b ON a.id = b.auction;
