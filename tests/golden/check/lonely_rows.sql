-- What is equal only where rows meet is not equal in a row without a partner, and NULL there is never closed.
CREATE STREAM a (x BIGINT, z BIGINT, PUNCTUATED BY (x)) USING json LOCATION 'a';
CREATE STREAM b (y BIGINT, PUNCTUATED BY (y)) USING json LOCATION 'b';
SELECT a.z, COUNT(*) AS n FROM a LEFT ANTI JOIN b ON a.x = b.y AND a.z = b.y GROUP BY a.z;
SELECT a.z, COUNT(*) AS n FROM a JOIN b ON a.x = b.y AND a.z = b.y GROUP BY a.z;
SELECT b.y, a.z, COUNT(*) AS n FROM a LEFT JOIN b ON a.x = b.y GROUP BY b.y, a.z;
SELECT b.y, COUNT(*) AS n FROM a LEFT JOIN b ON a.x = b.y GROUP BY b.y;
