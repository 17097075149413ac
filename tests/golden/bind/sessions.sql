CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP) USING json LOCATION 'bid';
SELECT bidder, session_window.start, session_window(at, '10 seconds').end AS until, session_window, MAX(price) AS price
FROM bid GROUP BY session_window(at, '10 seconds'), bidder
HAVING COUNT(*) > 1 AND session_window.end > session_window.start + INTERVAL 1 MINUTE;
SELECT session_window(at + INTERVAL 5 SECONDS, INTERVAL 90 SECONDS) AS session, COUNT(*) AS n FROM bid GROUP BY session;
SELECT session_window(at, '0.5 seconds'), at, COUNT(*) AS n FROM bid GROUP BY 1, at;
