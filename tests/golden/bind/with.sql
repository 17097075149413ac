CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
WITH sellers AS (SELECT seller FROM auction), named (s) AS (SELECT seller FROM sellers) SELECT s FROM named;
