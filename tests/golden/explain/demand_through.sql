CREATE STREAM orders (id BIGINT, customer BIGINT, UNIQUE (id)) USING json LOCATION 'orders';
CREATE STREAM item (order_id BIGINT, price DOUBLE, PUNCTUATED BY (order_id)) USING json LOCATION 'item';
CREATE STREAM complaint (order_id BIGINT, text STRING, PUNCTUATED BY (order_id)) USING json LOCATION 'complaint';
CREATE TABLE vip (customer BIGINT, name STRING) USING json LOCATION 'vip';
CREATE VIEW bill AS
SELECT o.id, o.customer, SUM(i.price) AS total FROM orders AS o JOIN item AS i ON o.id = i.order_id GROUP BY o.id, o.customer;
SELECT /*+ DEMAND */ b.id, b.total, c.text FROM bill AS b JOIN complaint AS c ON b.id = c.order_id;
SELECT n.id, n.items, v.name
FROM (SELECT p.id, p.customer, COUNT(*) AS items FROM orders AS p JOIN item AS j ON p.id = j.order_id GROUP BY p.id, p.customer) AS n
JOIN vip AS v ON n.customer = v.customer;
