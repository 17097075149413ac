-- Query 19, auction top 10: the ten highest bids of each auction. Of equal ones the first.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q19 USING parquet LOCATION 'out/q19';

INSERT INTO q19
SELECT auction, bidder, price, channel, url, date_time, extra, place
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, date_time) AS place FROM bid
) AS ranked
WHERE place <= 10;
