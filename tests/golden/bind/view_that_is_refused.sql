CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE VIEW hot AS SELECT nothing FROM auction;
SELECT id FROM hot;
