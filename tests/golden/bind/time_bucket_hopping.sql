CREATE STREAM bid (auction BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT window.start AS start, window(at, '1 hour', '15 minutes', '5 minutes').end AS until, window, COUNT(*) AS n
FROM bid GROUP BY window(at, '1 hour', '15 minutes', '5 minutes') HAVING window.start > TIMESTAMP '2026-01-01 00:00:00';
