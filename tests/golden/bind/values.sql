CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT t.*, b.price FROM bid AS b JOIN VALUES (1, 'one', 1.5), (20000000000, NULL, 22) AS t (id, name, factor) ON b.auction = t.id;
SELECT auction FROM bid WHERE bidder IN (VALUES 1, 1 + 1);
WITH t (day) AS (VALUES (DATE '2026-01-01')) SELECT * FROM t;
SELECT price FROM bid UNION ALL VALUES (CAST(1 AS DECIMAL(10, 2))), (NULL);
