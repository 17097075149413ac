-- Query 16, channel statistics report: the same for each channel, and the last minute with a bid.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q16 USING parquet LOCATION 'out/q16';

INSERT INTO q16
SELECT channel, date_format(date_time, 'yyyy-MM-dd') AS day, MAX(date_format(date_time, 'HH:mm')) AS minute,
  COUNT(*) AS total_bids,
  COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  COUNT(DISTINCT bidder) AS total_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
  COUNT(DISTINCT auction) AS total_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price < 10000) AS rank1_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions
FROM bid
GROUP BY channel, date_format(date_time, 'yyyy-MM-dd');
