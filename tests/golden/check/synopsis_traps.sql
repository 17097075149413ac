CREATE STREAM s (a INT, b INT, c INT, x INT, z INT, k INT, day DATE, name STRING, big BIGINT) USING json LOCATION 's';
CREATE STREAM t (d INT, e INT, y INT, day DATE, name STRING) USING json LOCATION 't';
CREATE STREAM n (x INT, y INT, CHECK (x = 5)) USING json LOCATION 'n';
CREATE STREAM p (x INT, CHECK (x > 0 AND x < 100)) USING json LOCATION 'p';
CREATE TABLE tab (k INT, name STRING) USING csv LOCATION 'tab';
SELECT s.k FROM s, t WHERE s.z = s.x + 1 AND s.x < t.y AND s.k = 1;  -- not: z says nothing between x and y
SELECT s.k FROM s, t WHERE s.z = s.x + 1 AND s.x < t.y AND s.x BETWEEN 1 AND 9 AND t.y BETWEEN 1 AND 9 AND s.k = 1;
SELECT s.k FROM s, t WHERE s.name = t.name AND t.name IN ('a', 'b') AND t.d = 1 AND s.k = 1;  -- the list is asked of s too
SELECT s.k FROM s, t, tab WHERE s.a = tab.k AND t.d = tab.k AND s.k = 1;  -- not: a table is asked of no stream
SELECT i.a FROM (SELECT a FROM s WHERE a BETWEEN 1 AND 5 INTERSECT SELECT a FROM s WHERE b < 10 AND a BETWEEN 1 AND 5
INTERSECT SELECT a FROM s WHERE b > 20 AND a BETWEEN 1 AND 5) AS i, t WHERE i.a = t.d AND t.e = 1;  -- not empty
SELECT DISTINCT n1.x, n2.x AS other FROM n AS n1, n AS n2 WHERE n2.y = 1;  -- two occurrences: a NULL is not 5
SELECT DISTINCT t.d FROM s AS s1, s AS s2, t WHERE s1.a = t.d + 1 AND s2.a = t.d + 1 AND t.d = 3;
SELECT DISTINCT s1.k FROM s AS s1, s AS s2, s AS s3 WHERE s1.k = 1 AND s1.a = s2.a AND s1.a = s3.a;
SELECT c.n, t.d FROM (SELECT COUNT(*) AS n FROM s WHERE a > 5 AND a < 3) AS c, t WHERE c.n = t.d AND t.d BETWEEN 0 AND 4;
SELECT p.x, t.d FROM p, t WHERE t.d BETWEEN 1 AND 5 AND (p.x < t.d OR p.x IS NULL);
SELECT s.k FROM s, t WHERE s.day > DATE '2024-01-06' AND s.day = t.day AND s.k = 1;  -- not: days without end
