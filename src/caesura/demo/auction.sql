CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP,
  UNIQUE (id)                 -- an id comes once
) USING json LOCATION 'auction' OPTIONS (maxFilesPerTrigger 1);

CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
  PUNCTUATED BY (auction)     -- the source says when an auction is over
) USING json LOCATION 'bid' OPTIONS (maxFilesPerTrigger 1);

CREATE SINK winners USING json LOCATION 'winners';

INSERT INTO winners
SELECT a.id, COUNT(*) AS bids, MAX(b.price) AS price
FROM auction AS a
JOIN bid AS b ON a.id = b.auction
GROUP BY a.id;
