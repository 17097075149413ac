CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a JOIN VALUES (1, 2), (3, 4) AS t (seller, bidder) ON a.seller = t.seller
JOIN bid AS b ON b.bidder = t.bidder;
