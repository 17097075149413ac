CREATE STREAM bid (auction BIGINT, at TIMESTAMP) USING json LOCATION 'bid';
SELECT COUNT(*) AS n FROM bid GROUP BY window(auction, '1 hour');
SELECT COUNT(*) AS n FROM bid GROUP BY window(at, '1 month');
SELECT COUNT(*) AS n FROM bid GROUP BY window(at, '1 hour', '2 hours');
SELECT COUNT(*) AS n FROM bid GROUP BY window(at);
SELECT window.middle AS m, COUNT(*) AS n FROM bid GROUP BY window(at, '1 hour');
