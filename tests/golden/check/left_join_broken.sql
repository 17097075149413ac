CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction;
