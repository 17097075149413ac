CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, kind TINYINT,
  PUNCTUATED BY (auction), CHECK (bidder BETWEEN 1 AND 9)
) USING json LOCATION 'd';

-- There are nine bidders, but each has ever more prices.
SELECT bidder, MEDIAN(price) AS middle, MAX(price) AS highest FROM bid GROUP BY bidder;

SELECT COUNT(DISTINCT auction) AS auctions FROM bid;
