CREATE STREAM auction (id BIGINT, opened TIMESTAMP, expires TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
CREATE STREAM look (auction BIGINT, day DATE, ORDERED BY (day)) USING json LOCATION 'look';
CREATE TABLE name (id BIGINT, name STRING) USING csv LOCATION 'name';
SELECT a.id FROM auction [RANGE INTERVAL 12 HOURS] AS a JOIN bid AS b ON a.id = b.auction JOIN name AS n ON n.id = a.id;
SELECT a.id FROM auction [RANGE INTERVAL 12 HOURS] AS a, bid [RANGE INTERVAL 1 MINUTE] AS b, look AS l
WHERE a.id = b.auction AND l.auction = a.id;
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid [RANGE INTERVAL 1 MINUTE] AS b ON a.id = b.auction
JOIN look AS l ON l.auction = a.id;
SELECT a.id FROM auction [RANGE INTERVAL 1 DAY] AS a WHERE EXISTS (SELECT 1 FROM bid [RANGE INTERVAL 1 MINUTE] AS b WHERE b.auction = a.id);
CREATE VIEW dear AS SELECT auction, at AS time FROM bid WHERE price > 10;
SELECT d.auction FROM dear [RANGE INTERVAL 1 MINUTE] AS d JOIN look AS l ON d.auction = l.auction;
