CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, ORDERED BY (opened)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
CREATE VIEW hot AS SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction HAVING n > 10;
SELECT a.seller, n FROM auction AS a JOIN hot ON hot.auction = a.id;
