CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, kind INT, PUNCTUATED BY (auction, kind)) USING json LOCATION 'bid';
SELECT id, seller FROM auction AS a WHERE EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id AND b.kind = 2);
