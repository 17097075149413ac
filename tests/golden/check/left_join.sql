CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction;
SELECT a.id FROM auction AS a LEFT ANTI JOIN bid AS b ON a.id = b.auction;
SELECT a.id FROM auction AS a LEFT SEMI JOIN bid AS b ON a.id = b.auction;
SELECT a.id, b.price FROM auction AS a FULL JOIN bid AS b ON a.id = b.auction;
