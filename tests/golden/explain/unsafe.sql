-- Not safe as any tree, so that nothing is chosen.
CREATE STREAM s1 (a BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's1';
CREATE STREAM s2 (a BIGINT, b BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's2';
CREATE STREAM s3 (b BIGINT, c BIGINT, PUNCTUATED BY (c)) USING json LOCATION 's3';
SELECT s1.a FROM s1 JOIN s2 ON s1.a = s2.a JOIN s3 ON s2.b = s3.b;
