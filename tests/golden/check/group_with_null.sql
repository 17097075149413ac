CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
  PUNCTUATED BY (auction),
  PUNCTUATED BY (bidder, auction) LIFESPAN INTERVAL 4 HOURS
) USING json LOCATION 'data/bid' OPTIONS (punctuation '_punctuation');

SELECT auction, bidder, COUNT(*) AS bids FROM bid GROUP BY auction, bidder;
