-- Texts that begin with the year and go down to the second close with the time; others do not.
CREATE STREAM bid (auction BIGINT, at TIMESTAMP, number BIGINT, ORDERED BY (at), ORDERED BY (number)) USING json LOCATION 'bid';
SELECT date_format(at, 'yyyy-MM-dd') AS day, COUNT(*) AS n FROM bid GROUP BY date_format(at, 'yyyy-MM-dd');
SELECT date_format(at, 'dd-MM-yyyy') AS day, COUNT(*) AS n FROM bid GROUP BY date_format(at, 'dd-MM-yyyy');
SELECT DISTINCT date_format(at, 'yyyy-M') AS month FROM bid;
SELECT number DIV 100 AS hundred, COUNT(*) AS n FROM bid GROUP BY number DIV 100;
SELECT number DIV -100 AS hundred, COUNT(*) AS n FROM bid GROUP BY number DIV -100;
SELECT date_format(at, 'yyyy') AS year, auction FROM bid WHERE at IS NOT NULL ORDER BY date_format(at, 'yyyy');
