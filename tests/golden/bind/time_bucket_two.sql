CREATE STREAM bid (auction BIGINT, at TIMESTAMP) USING json LOCATION 'bid';
SELECT COUNT(*) AS n FROM bid GROUP BY window(at, '1 hour'), window(at, '2 hours');
