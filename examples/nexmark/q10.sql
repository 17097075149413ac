-- Query 10, log to file system: all bids as text files, with the day and the minute of each.
-- A sink has one folder; files are added to it slice by slice, each when it is complete.

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q10 USING csv LOCATION 'out/q10' OPTIONS (
  header true, timestampFormat 'yyyy-MM-dd HH:mm:ss.SSSSSS'
);

INSERT INTO q10
SELECT auction, bidder, price, date_time, extra,
  date_format(date_time, 'yyyy-MM-dd') AS dt, date_format(date_time, 'HH:mm') AS hm
FROM bid;
