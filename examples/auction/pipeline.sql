-- The winner of every auction, as soon as the auction closes.
--
--   caesura check examples/auction/pipeline.sql               is the state bounded, and why
--   caesura run   examples/auction/pipeline.sql --until-end   run it over data/, into out/

-- An id arrives once. So each auction row is a promise by itself: after it, no other row has this id.
-- That is why a bid need not wait for a second auction row, once it has met the first.
CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP,
  UNIQUE (id)
) USING json LOCATION 'data/auction' OPTIONS (maxFilesPerTrigger 1);

-- The source says when an auction is over: among the bids there are rows that are punctuations, such as
--   {"_punctuation": "{\"auction\": 17}"}       no bid for auction 17 comes after this
-- Then the auction can leave the join, its group is complete, and its winner is known.
CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
  PUNCTUATED BY (auction)
) USING json LOCATION 'data/bid' OPTIONS (maxFilesPerTrigger 1);   -- one file is one slice

CREATE SINK winners USING csv LOCATION 'out/winners' OPTIONS (header true);

-- Results are final: an auction gives one row, when it is closed, and never a correction.
INSERT INTO winners
SELECT a.id, a.category, COUNT(*) AS bids, MAX(b.price) AS price
FROM auction AS a JOIN bid AS b ON a.id = b.auction
GROUP BY a.id, a.category;
