CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT id FROM auction WHERE category IN (10, 11) AND NOT (seller = 1 OR seller IS NULL) AND TRUE;
