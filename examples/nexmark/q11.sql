-- Query 11, user sessions: how many bids did each bidder make before 10 seconds without one?

CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) USING parquet LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK q11 USING parquet LOCATION 'out/q11';

INSERT INTO q11
SELECT bidder, COUNT(*) AS bid_count, session_window.start AS starttime, session_window.end AS endtime
FROM bid GROUP BY bidder, session_window(date_time, '10 seconds');
