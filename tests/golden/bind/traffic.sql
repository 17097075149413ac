CREATE STREAM s (id BIGINT, seller BIGINT) USING json LOCATION 's' OPTIONS (rate 1000, distinct 'id 5000, Seller 100');
SELECT id FROM s;
