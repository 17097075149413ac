CREATE STREAM bid (
  auction BIGINT, bidder BIGINT NOT NULL, price DOUBLE, at TIMESTAMP, ORDERED BY (at WITHIN INTERVAL 5 SECONDS)
) USING json LOCATION 'data/bid';
CREATE STREAM visit (person BIGINT NOT NULL, town STRING, at TIMESTAMP, PUNCTUATED BY (person)) USING json LOCATION 'data/visit';

SELECT bidder, session_window.start, COUNT(*) AS bids, COUNT(DISTINCT auction) AS auctions
FROM bid GROUP BY session_window(at, '10 seconds'), bidder;

-- sessions of a person are complete when nothing comes of him any more
SELECT person, town, COUNT(*) AS n FROM visit GROUP BY session_window(at, '1 hour'), person, town;

-- time passes the end of every session: what reads them may rely on it
CREATE STREAM session AS
SELECT bidder, session_window.end AS until, COUNT(*) AS bids FROM bid GROUP BY session_window(at, '10 seconds'), bidder;
SELECT until, bidder, bids FROM session ORDER BY until;
SELECT window.start, MAX(bids) AS bids FROM session GROUP BY window(until, '1 hour');
