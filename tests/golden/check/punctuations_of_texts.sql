-- The cycle with keys that do not coalesce: rows leave, one punctuation per key stays.
CREATE STREAM s1 (a STRING, b STRING, PUNCTUATED BY (b) LIFESPAN INTERVAL 1 DAY) USING json LOCATION 's1';
CREATE STREAM s2 (b STRING, c STRING, PUNCTUATED BY (c)) USING json LOCATION 's2';
CREATE STREAM s3 (c STRING, a STRING, PUNCTUATED BY (a)) USING json LOCATION 's3';
SELECT s1.a, s2.b, s3.c FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c AND s3.a = s1.a;
