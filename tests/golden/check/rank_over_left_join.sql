CREATE STREAM bid (auction BIGINT, bidder BIGINT, channel INT, price BIGINT, at TIMESTAMP NOT NULL, PUNCTUATED BY (auction), ORDERED BY (at), CHECK (channel BETWEEN 1 AND 4)) USING json LOCATION 'bid';
CREATE STREAM auction (id BIGINT NOT NULL, seller BIGINT, UNIQUE (id)) USING json LOCATION 'auction';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction QUALIFY ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price) = 1;
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction QUALIFY ROW_NUMBER() OVER (PARTITION BY b.auction ORDER BY b.price) = 1;
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction QUALIFY RANK() OVER (PARTITION BY b.auction ORDER BY b.price) = 1;
