CREATE STREAM s (a INT, b INT, c INT) USING json LOCATION 's';
CREATE STREAM t (d INT, e INT) USING json LOCATION 't';
SELECT s.a, COUNT(*) AS n, SUM(t.e) AS total, AVG(s.c) AS mean FROM s, t
WHERE s.a = t.d AND s.a BETWEEN 11 AND 19 GROUP BY s.a EMIT CHANGES;                    -- bounded, pushed below the join
SELECT s.a, COUNT(DISTINCT t.e) AS n FROM s, t
WHERE s.a = t.d AND s.a BETWEEN 11 AND 19 GROUP BY s.a EMIT CHANGES;                    -- not: every e is kept
SELECT s.a, COUNT(DISTINCT t.e) AS n FROM s, t
WHERE s.a = t.d AND s.a BETWEEN 11 AND 19 AND t.e BETWEEN 0 AND 9 GROUP BY s.a EMIT CHANGES; -- bounded
SELECT s.a, MAX(s.b) AS most FROM s, t WHERE t.d < s.b AND s.a IN (1, 2) GROUP BY s.a EMIT CHANGES;  -- bounded: greatest b
SELECT s.a, MIN(s.b) AS least FROM s, t WHERE t.d < s.b AND s.a IN (1, 2) GROUP BY s.a EMIT CHANGES; -- not
SELECT s.a, MAX(s.c) AS most FROM s, t WHERE t.d < s.b AND s.a IN (1, 2) GROUP BY s.a EMIT CHANGES;  -- not
SELECT s.a, COUNT(*) AS n FROM s, t WHERE t.d < s.b AND s.a IN (1, 2) GROUP BY s.a EMIT CHANGES;     -- not
SELECT t.e, SUM(s.b) AS total FROM s, t WHERE s.a = t.d AND s.a BETWEEN 11 AND 19 GROUP BY t.e EMIT CHANGES; -- not
SELECT SUM(s.b * t.e) AS product FROM s, t WHERE s.a = t.d AND s.a IN (1, 2) EMIT CHANGES;  -- not: of both inputs
