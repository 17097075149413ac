CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE names (id BIGINT, name STRING) USING csv LOCATION 'names';
SELECT a.id FROM auction AS a, bid AS b
WHERE a.id = b.auction AND NOT (NOT EXISTS (SELECT 1 FROM names AS n WHERE n.id = a.seller)) AND a.seller > 10 AND b.bidder = a.seller;
