CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction), PUNCTUATED BY (at),
  CHECK (bidder BETWEEN 1 AND 9)
) USING json LOCATION 'data/bid';
CREATE STREAM visit (person BIGINT, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'data/visit';

-- few bidders, but sessions of each follow one another for ever
SELECT bidder, COUNT(*) AS bids FROM bid GROUP BY session_window(at, '10 seconds'), bidder;

-- a session that is open may have started long ago
CREATE STREAM session AS
SELECT session_window.start AS start, COUNT(*) AS visits FROM visit GROUP BY session_window(at, '1 hour'), person;
SELECT start, visits FROM session ORDER BY start;
