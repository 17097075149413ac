-- COMPLETE BY without parts that close, a CHECK that NULL passes, a bound that the stream never gets beyond.
CREATE TABLE site (s INT) USING csv LOCATION 'site';
CREATE STREAM reading (s INT, h INT, COMPLETE BY (h) PER (s) IN site) USING json LOCATION 'reading';
CREATE STREAM a (u BIGINT, t BIGINT, ORDERED BY (t), CHECK (t <= u + 10)) USING json LOCATION 'a';
CREATE STREAM b (u BIGINT, PUNCTUATED BY (u)) USING json LOCATION 'b';
CREATE STREAM c (k BIGINT, n INT NOT NULL, ORDERED BY (n), CHECK (n <= 10)) USING json LOCATION 'c';
CREATE STREAM d (k BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'd';
SELECT h, COUNT(*) AS n FROM reading GROUP BY h;
SELECT b.u FROM a JOIN b ON a.u = b.u;
SELECT d.k FROM c JOIN d ON c.k = d.k;
SELECT CAST(CAST(t AS BOOLEAN) AS BIGINT) AS odd, COUNT(*) AS n FROM a GROUP BY CAST(CAST(t AS BOOLEAN) AS BIGINT);
