CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT a.id, c.name FROM auction AS a JOIN VALUES (10, 'art'), (11, 'books') AS c (id, name) ON a.category = c.id;
SELECT bidder, price FROM bid WHERE bidder IN (VALUES 1, 2, 3);
SELECT category, COUNT(*) AS auctions FROM auction JOIN VALUES (10), (11) AS c (id) ON category = c.id GROUP BY category EMIT CHANGES;
