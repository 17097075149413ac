CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT a.id FROM auction [RANGE INTERVAL 12 HOURS] AS a JOIN bid AS b ON a.id = b.auction;
