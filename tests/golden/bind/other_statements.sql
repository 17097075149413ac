CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
DROP TABLE auction;
UPDATE auction SET id = 1;
DELETE FROM auction;
SET x = 1;
CREATE OR REPLACE VIEW v AS SELECT id FROM auction;
MERGE INTO auction USING auction AS b ON TRUE WHEN MATCHED THEN DELETE;
