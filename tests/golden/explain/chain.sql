-- A chain: without statistics, the tree that stores least.
CREATE STREAM orders (id BIGINT, customer BIGINT, UNIQUE (id), PUNCTUATED BY (customer)) USING json LOCATION 'orders';
CREATE STREAM shipment (order_id BIGINT, parcel BIGINT, PUNCTUATED BY (order_id), UNIQUE (parcel)) USING json LOCATION 'shipment';
CREATE STREAM delivery (parcel BIGINT, at TIMESTAMP, UNIQUE (parcel)) USING json LOCATION 'delivery';
SELECT o.id, d.at
FROM orders AS o JOIN shipment AS s ON o.id = s.order_id JOIN delivery AS d ON s.parcel = d.parcel;
