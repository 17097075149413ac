CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT id FROM auction WHERE opened > '2026-01-01 00:00:00';
