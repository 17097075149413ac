CREATE STREAM s (a INT, b INT, c INT) USING json LOCATION 's';
CREATE STREAM t (d INT, e INT) USING json LOCATION 't';
-- each condition twice: how often a row occurs is told, or not
SELECT a FROM s WHERE a > 10;                                                          -- bounded
SELECT DISTINCT a FROM s WHERE a > 10;                                                 -- not
SELECT s.a FROM s, t WHERE s.a = t.d;                                                  -- not
SELECT DISTINCT s.a FROM s, t WHERE s.a = t.d;                                         -- not
SELECT s.a FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20;                        -- bounded
SELECT DISTINCT s.a FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20;               -- bounded
SELECT s.a FROM s, t WHERE s.b < t.d AND s.a > 10 AND s.a < 20;                        -- not
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND s.a > 10 AND s.a < 20;               -- bounded: least b, greatest d
SELECT s.a FROM s, t WHERE s.b < t.d AND s.c < t.d AND s.a > 10 AND s.a < 20;          -- not
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND s.c < t.d AND s.a > 10 AND s.a < 20; -- bounded: the greater of b and c
SELECT s.a FROM s, t WHERE s.b < t.d AND s.c < t.e AND s.a > 10 AND s.a < 20;          -- not
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND s.c < t.e AND s.a > 10 AND s.a < 20; -- not
SELECT s.a FROM s, t WHERE s.b < t.d AND t.d < s.c AND s.a = 10;                       -- not
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND t.d < s.c AND s.a = 10;              -- not: d lies between
SELECT s.a FROM s, t WHERE s.b < t.d AND t.d < s.c AND s.b < 0 AND s.c > 9 AND s.a = 1;          -- not
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND t.d < s.c AND s.b < 0 AND s.c > 9 AND s.a = 1; -- bounded
SELECT t.d FROM s, t WHERE s.b < t.d AND t.d > 4 AND t.d < 8;                          -- bounded: b below 5 is alike
SELECT DISTINCT t.d FROM s, t WHERE s.b < t.d AND t.d > 4 AND t.d < 8;                 -- bounded
SELECT s.a FROM s, t WHERE s.a < t.d AND t.d < s.a;                                    -- bounded: empty
SELECT s.a FROM s, t WHERE s.a IN (1, 2);                                              -- bounded: t is a number of rows
