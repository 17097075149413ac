-- Query 13, bounded side input join: each bid with what a table has for it.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE TABLE side_input (key BIGINT, value STRING) USING csv LOCATION 'data/side_input';
CREATE SINK q13 USING parquet LOCATION 'out/q13';

INSERT INTO q13
SELECT b.auction, b.bidder, b.price, b.date_time, s.value
FROM bid AS b JOIN side_input AS s ON b.auction % 10000 = s.key;
