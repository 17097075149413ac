CREATE STREAM auction (id BIGINT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
CREATE VIEW both AS SELECT a.id, a.opened, b.at FROM auction AS a JOIN bid AS b ON a.id = b.auction;
SELECT v.id FROM both [RANGE INTERVAL 1 HOUR] AS v JOIN bid AS c ON v.id = c.auction;
