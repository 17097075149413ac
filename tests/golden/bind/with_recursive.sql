CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
WITH RECURSIVE r AS (SELECT id FROM auction) SELECT id FROM r;
