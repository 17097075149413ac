-- A lonely row has NULL for b.auction: grouping by it is not closed by auction's punctuations, by a.id it is.
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT a.id, COUNT(*) AS n FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction GROUP BY a.id;
SELECT b.auction, COUNT(*) AS n FROM auction AS a RIGHT JOIN bid AS b ON a.id = b.auction GROUP BY b.auction;
