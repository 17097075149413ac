-- A star around bid, with a table; each dimension is ordered or unique.
CREATE STREAM auction (id BIGINT, UNIQUE (id)) USING json LOCATION 'auction' OPTIONS (rate 10);
CREATE STREAM person (id BIGINT, city STRING, UNIQUE (id)) USING json LOCATION 'person' OPTIONS (rate 5);
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, PUNCTUATED BY (auction), PUNCTUATED BY (bidder))
USING json LOCATION 'bid' OPTIONS (rate 1000, distinct 'auction 200, bidder 5000');
CREATE TABLE place (city STRING, country STRING) USING csv LOCATION 'place';
SELECT b.price, c.country
FROM bid AS b JOIN auction AS a ON b.auction = a.id JOIN person AS p ON b.bidder = p.id JOIN place AS c ON p.city = c.city;
