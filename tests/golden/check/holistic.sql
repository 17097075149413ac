CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT, price DOUBLE, kind TINYINT,
  PUNCTUATED BY (auction), CHECK (bidder BETWEEN 1 AND 9)
) USING json LOCATION 'd';

SELECT auction, MEDIAN(price) AS middle, COUNT(DISTINCT bidder) AS bidders FROM bid GROUP BY auction;

SELECT bidder, MODE(kind) AS usual FROM bid GROUP BY bidder;

SELECT COUNT(DISTINCT bidder, kind) FILTER (WHERE price > 1) AS n, MODE(bidder) FILTER (WHERE price > 1) AS m FROM bid;
