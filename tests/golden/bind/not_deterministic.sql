CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
SELECT id, RAND() AS r FROM auction;
SELECT id, NOW() AS t FROM auction;
SELECT UUID() AS u FROM auction WHERE opened < CURRENT_TIMESTAMP;
