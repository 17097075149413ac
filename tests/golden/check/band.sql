CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, ORDERED BY (opened WITHIN INTERVAL 5 SECONDS)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b
ON a.id = b.auction AND b.at BETWEEN a.opened AND a.opened + INTERVAL 12 HOURS;
