-- A month is not a length: half past eleven on the 30th and the 31st of January change places when one is added.
CREATE STREAM bid (auction BIGINT, at TIMESTAMP, day DATE, ORDERED BY (at), ORDERED BY (day)) USING json LOCATION 'bid';
SELECT at + INTERVAL 1 HOUR AS later, COUNT(*) AS n FROM bid GROUP BY at + INTERVAL 1 HOUR;
SELECT at + INTERVAL 1 MONTH AS later, COUNT(*) AS n FROM bid GROUP BY at + INTERVAL 1 MONTH;
SELECT at + INTERVAL 1 DAY AS later, COUNT(*) AS n FROM bid GROUP BY at + INTERVAL 1 DAY;
SELECT day + INTERVAL 1 MONTH AS later, COUNT(*) AS n FROM bid GROUP BY day + INTERVAL 1 MONTH;
