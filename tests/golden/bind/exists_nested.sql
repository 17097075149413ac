CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE names (id BIGINT, name STRING) USING csv LOCATION 'names';
SELECT id FROM auction AS a
WHERE EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id AND NOT EXISTS (SELECT * FROM names AS n WHERE n.id = b.bidder));
