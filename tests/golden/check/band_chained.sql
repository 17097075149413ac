-- at <= expires by the join and expires <= opened + 30 days by a CHECK bound at by opened.
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, ORDERED BY (opened), CHECK (expires <= opened + INTERVAL 30 DAYS)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.at >= a.opened AND b.at <= a.expires;
