CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE SINK winners USING parquet LOCATION 'winners';
INSERT OVERWRITE winners SELECT id FROM auction;
