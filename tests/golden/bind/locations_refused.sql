CREATE STREAM sensor (id BIGINT, hour INT, CLUSTERED BY (hour)) USING json LOCATION ('a', 'b');
CREATE TABLE place (id BIGINT) USING json LOCATION ('a', 'b');
CREATE SINK out USING json LOCATION ('a', 'b');
