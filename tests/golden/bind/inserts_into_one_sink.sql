CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE SINK winners USING parquet LOCATION 'winners';
INSERT INTO winners SELECT id FROM auction;
INSERT INTO Winners SELECT seller AS id FROM auction;
SELECT id FROM auction;
SELECT seller FROM auction;
