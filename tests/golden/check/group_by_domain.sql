CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, CHECK (category BETWEEN 10 AND 14)) USING json LOCATION 'auction';
SELECT category, COUNT(*) AS n FROM auction GROUP BY category;
SELECT category, COUNT(*) AS n FROM auction GROUP BY category EMIT CHANGES;
SELECT seller, COUNT(*) AS n FROM auction WHERE seller IN (1, 2, 3) GROUP BY seller;
