CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE VIEW v AS SELECT id FROM auction;
SELECT id FROM v [RANGE INTERVAL 1 HOUR];
