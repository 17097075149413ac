CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT TRANSFORM(ARRAY(id), x -> x + 1) AS t FROM auction;
