-- The pipeline with one sensor that never says when an hour is over: `caesura check` refuses it, and says what is
-- missing.
--
-- An hour that the first sensor has closed may still get reports from the second. So no report can be forgotten, and
-- no maximum is final.

CREATE STREAM sensor1 (
  sid STRING, hour INT NOT NULL, minute INT, currtmp DOUBLE,
  PUNCTUATED BY (hour)
) USING json LOCATION 'data/sensor1' OPTIONS (maxFilesPerTrigger 1);

CREATE STREAM sensor2 (
  sid STRING, hour INT NOT NULL, minute INT, currtmp DOUBLE
) USING json LOCATION 'data/sensor2' OPTIONS (maxFilesPerTrigger 1);

CREATE SINK hottest USING csv LOCATION 'out/hottest' OPTIONS (header true);

INSERT INTO hottest
SELECT hour, MAX(currtmp) AS maxtemp
FROM (
  SELECT currtmp, hour FROM sensor1
  UNION
  SELECT currtmp, hour FROM sensor2
) AS reports
GROUP BY hour;
