CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE TABLE names (id BIGINT, name STRING) USING csv LOCATION 'names';
SELECT id FROM auction WHERE id IN (SELECT auction FROM bid GROUP BY auction HAVING COUNT(*) > 3)
UNION ALL SELECT id FROM names WHERE id IN (SELECT auction FROM bid UNION ALL SELECT seller FROM auction);
