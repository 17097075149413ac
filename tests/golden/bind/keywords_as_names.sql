CREATE STREAM s (at TIMESTAMP, date DATE, value DOUBLE, timestamp TIMESTAMP, window INT, `order` INT) USING json LOCATION 's';
SELECT at, date, value, timestamp, window, `order` FROM s AS s WHERE timestamp > at AND s.date = DATE '2026-01-01' AND value > 1;
