CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT category, COUNT(*) AS n FROM auction GROUP BY category EMIT CHANGES;
