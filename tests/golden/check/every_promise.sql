CREATE TABLE installed (sensor INT) USING csv LOCATION 'installed';
CREATE STREAM clustered (k BIGINT, CLUSTERED BY (k)) USING json LOCATION 'clustered';
CREATE STREAM ended (k BIGINT, last BOOLEAN, CLOSED BY (k) WHEN last) USING json LOCATION 'ended';
CREATE STREAM reading (sensor INT, hour INT, temperature DOUBLE, PUNCTUATED BY (sensor, hour),
  COMPLETE BY (hour) PER (sensor) IN installed) USING json LOCATION 'reading';
SELECT k, COUNT(*) AS n FROM clustered GROUP BY k;
SELECT k, COUNT(*) AS n FROM ended GROUP BY k;
SELECT hour, MAX(temperature) AS most FROM reading GROUP BY hour;
SELECT c.k FROM clustered AS c JOIN ended AS e ON c.k = e.k;
