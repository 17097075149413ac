CREATE STREAM s (a INT, b INT, c INT) USING json LOCATION 's';
CREATE STREAM t (d INT, e INT) USING json LOCATION 't';
SELECT DISTINCT x.b FROM s AS x, s AS y WHERE x.a = y.a AND x.b > 0 AND x.b < 9;            -- bounded: y is x
SELECT x.b FROM s AS x, s AS y WHERE x.a = y.a AND x.b > 0 AND x.b < 9;                     -- not: they are counted
SELECT DISTINCT x.b FROM s AS x, s AS y WHERE x.a = y.a AND x.b > 0 AND x.b < 9 AND y.c > 5; -- not: y is another
SELECT DISTINCT x.b FROM s AS x, s AS y WHERE x.a < y.a AND x.b > 0 AND x.b < 9;            -- bounded: extremes
