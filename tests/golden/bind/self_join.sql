CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT a.id, b.id AS other FROM auction AS a JOIN auction AS b ON a.seller = b.seller AND a.id < b.id;
