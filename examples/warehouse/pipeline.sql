-- The highest temperature in a warehouse for every hour, as soon as the hour is over.
--
--   caesura check examples/warehouse/pipeline.sql               is the state bounded, and why
--   caesura run   examples/warehouse/pipeline.sql --until-end   run it over data/, into out/

-- A sensor reports every minute, and says when an hour is over: among its reports there are rows such as
--   {"_punctuation": "{\"hour\": 17}"}          no report for hour 17 comes after this
CREATE STREAM sensor1 (
  sid STRING, hour INT NOT NULL, minute INT, currtmp DOUBLE,
  PUNCTUATED BY (hour)
) USING json LOCATION 'data/sensor1' OPTIONS (maxFilesPerTrigger 1);   -- one file is one slice

CREATE STREAM sensor2 (
  sid STRING, hour INT NOT NULL, minute INT, currtmp DOUBLE,
  PUNCTUATED BY (hour)
) USING json LOCATION 'data/sensor2' OPTIONS (maxFilesPerTrigger 1);

CREATE SINK hottest USING csv LOCATION 'out/hottest' OPTIONS (header true);

-- UNION removes duplicates, so it must remember what it has seen; MAX must wait for the last report of an hour.
-- Both are done with an hour when both sensors have closed it. One of them is not enough.
INSERT INTO hottest
SELECT hour, MAX(currtmp) AS maxtemp
FROM (
  SELECT currtmp, hour FROM sensor1
  UNION
  SELECT currtmp, hour FROM sensor2
) AS reports
GROUP BY hour;
