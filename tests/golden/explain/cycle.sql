-- The three-way cycle of the paper: no tree of binary joins is safe.
CREATE STREAM s1 (a BIGINT, b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's1';
CREATE STREAM s2 (b BIGINT, c BIGINT, PUNCTUATED BY (c)) USING json LOCATION 's2';
CREATE STREAM s3 (c BIGINT, a BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's3';
SELECT s1.a, s2.b, s3.c
FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c AND s3.a = s1.a;
