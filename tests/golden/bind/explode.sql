CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT EXPLODE(ARRAY(1, 2)) AS x FROM auction;
