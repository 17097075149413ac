CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT id FROM auction LATERAL VIEW EXPLODE(ARRAY(1, 2)) t AS x;
