CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, PUNCTUATED BY (seller)) USING json LOCATION 'auction';
SELECT x.id, y.id AS other FROM auction AS x JOIN auction AS y ON x.seller = y.seller;
