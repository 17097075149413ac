CREATE STREAM sensor (id BIGINT, hour INT, PUNCTUATED BY (hour)) USING json LOCATION ('a', 'b', 'c');
CREATE STREAM one (id BIGINT, UNIQUE (id)) USING json LOCATION ('a');
SELECT s.hour, COUNT(*) AS n FROM sensor AS s GROUP BY s.hour;
SELECT id FROM one;
