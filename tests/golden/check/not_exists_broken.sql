CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE) USING json LOCATION 'bid';
SELECT id, seller FROM auction AS a WHERE NOT EXISTS (SELECT * FROM bid WHERE auction = a.id);
