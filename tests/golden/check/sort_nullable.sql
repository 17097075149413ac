-- A row without a time comes before all others, and one may always come.
CREATE STREAM bid (auction BIGINT, at TIMESTAMP, ORDERED BY (at), UNIQUE (auction)) USING json LOCATION 'bid';
SELECT auction, at FROM bid ORDER BY at;
SELECT auction, at FROM bid WHERE at IS NOT NULL ORDER BY at;
SELECT auction, at FROM bid WHERE auction IS NOT NULL ORDER BY auction;
