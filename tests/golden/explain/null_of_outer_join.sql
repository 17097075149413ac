CREATE STREAM auction (id BIGINT NOT NULL, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, price BIGINT, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction QUALIFY RANK() OVER (PARTITION BY b.auction ORDER BY b.price) = 1;
