-- The same with rates: most rows of shipment never meet an order.
CREATE STREAM orders (id BIGINT, customer BIGINT, UNIQUE (id), PUNCTUATED BY (customer)) USING json LOCATION 'orders' OPTIONS (rate 10, distinct 'id 20');
CREATE STREAM shipment (order_id BIGINT, parcel BIGINT, PUNCTUATED BY (order_id), UNIQUE (parcel)) USING json LOCATION 'shipment' OPTIONS (rate 1000, distinct 'order_id 5000');
CREATE STREAM delivery (parcel BIGINT, at TIMESTAMP, UNIQUE (parcel)) USING json LOCATION 'delivery' OPTIONS (rate 900, distinct 'parcel 50000');
SELECT o.id, d.at
FROM orders AS o JOIN shipment AS s ON o.id = s.order_id JOIN delivery AS d ON s.parcel = d.parcel;
