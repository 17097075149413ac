-- The pipeline without the promise UNIQUE (id): `caesura check` refuses it, and says what is missing.
--
-- If an id may come again, every bid has to be kept for the auction row that may still arrive.

CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP
) USING json LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);

CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
  PUNCTUATED BY (auction)
) USING json LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);

CREATE SINK winners USING csv LOCATION 'out/winners' OPTIONS (header true);

INSERT INTO winners
SELECT a.id, a.category, COUNT(*) AS bids, MAX(b.price) AS price
FROM auction AS a JOIN bid AS b ON a.id = b.auction
GROUP BY a.id, a.category;
