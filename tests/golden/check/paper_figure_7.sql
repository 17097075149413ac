-- Li et al., figure 7: no tree of binary joins is safe for the cycle of figure 5.
CREATE STREAM s1 (a BIGINT, b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's1';
CREATE STREAM s2 (b BIGINT, c BIGINT, PUNCTUATED BY (c)) USING json LOCATION 's2';
CREATE STREAM s3 (c BIGINT, a BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's3';
SELECT x.a, x.b, s3.c FROM (SELECT s1.a, s2.b, s2.c FROM s1 JOIN s2 ON s1.b = s2.b) AS x
JOIN s3 ON x.c = s3.c AND s3.a = x.a;
SELECT s1.a, x.b, x.c FROM (SELECT s2.b, s2.c, s3.a FROM s2 JOIN s3 ON s2.c = s3.c) AS x
JOIN s1 ON x.b = s1.b AND s1.a = x.a;
SELECT x.a, s2.b, s2.c FROM (SELECT s1.a, s1.b, s3.c FROM s1 JOIN s3 ON s3.a = s1.a) AS x
JOIN s2 ON x.b = s2.b AND s2.c = x.c;
