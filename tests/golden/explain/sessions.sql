CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'bid';
SELECT bidder, session_window.start AS start, COUNT(*) AS bids, MAX(price) AS price
FROM bid GROUP BY session_window(at, '10 seconds'), bidder;
