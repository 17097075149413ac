CREATE STREAM reading (sensor INT, hour INT, value DOUBLE, PUNCTUATED BY (sensor, hour))
  USING json LOCATION 'data/reading';
CREATE STREAM alarm (sensor INT, hour INT, kind STRING, PUNCTUATED BY (sensor, hour))
  USING json LOCATION 'data/alarm';

SELECT r.value, a.kind FROM reading AS r JOIN alarm AS a ON r.sensor = a.sensor AND r.hour = a.hour;
