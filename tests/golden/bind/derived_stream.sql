CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE STREAM closing AS SELECT id, seller FROM auction WHERE category = 10;
SELECT c.seller, d.id FROM closing AS c JOIN closing AS d ON c.id = d.seller;
