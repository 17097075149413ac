CREATE STREAM person (id BIGINT, name STRING, UNIQUE (id)) USING json LOCATION 'data/person';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, PUNCTUATED BY (auction), PUNCTUATED BY (bidder))
  USING json LOCATION 'data/bid';
CREATE STREAM auction (id BIGINT, seller BIGINT, UNIQUE (id)) USING json LOCATION 'data/auction';

CREATE STREAM sale AS
SELECT a.id, b.bidder, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction;

SELECT p.name, s.price FROM sale AS s JOIN person AS p ON s.bidder = p.id;
