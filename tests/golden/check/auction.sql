CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP,
  UNIQUE (id),
  PUNCTUATED BY (seller),
  ORDERED BY (opened WITHIN INTERVAL 5 SECONDS),
  CHECK (category BETWEEN 10 AND 14)
) USING parquet LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);

CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
  PUNCTUATED BY (auction),
  PUNCTUATED BY (bidder, auction) LIFESPAN INTERVAL 4 HOURS
) USING json LOCATION 'data/bid' OPTIONS (punctuation '_punctuation');

CREATE SINK winners USING parquet LOCATION 'out/winners';

INSERT INTO winners
SELECT a.id, a.seller, MAX(b.price) AS price
FROM auction AS a JOIN bid AS b ON a.id = b.auction
GROUP BY a.id, a.seller;
