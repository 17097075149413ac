-- A unique key is closed by its row alone: what has no partner never hears of it.
CREATE STREAM a (id BIGINT, PUNCTUATED BY (id)) USING json LOCATION 'a';
CREATE STREAM b (id BIGINT, UNIQUE (id)) USING json LOCATION 'b';
SELECT a.id FROM a LEFT ANTI JOIN b ON a.id = b.id;
SELECT id FROM a EXCEPT SELECT id FROM b;
SELECT a.id FROM a LEFT SEMI JOIN b ON a.id = b.id;
