CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT x.s FROM (SELECT seller AS s, id FROM auction) AS x (s, i) WHERE x.i > 1;
