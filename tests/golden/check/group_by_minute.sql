-- The bound of an ordered column is one of every expression that keeps its order.
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT date_trunc('minute', at) AS minute, COUNT(*) AS n FROM bid GROUP BY date_trunc('minute', at);
SELECT hour(at) AS hour, COUNT(*) AS n FROM bid GROUP BY hour(at);
