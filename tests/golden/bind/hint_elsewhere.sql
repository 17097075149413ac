CREATE STREAM auction (id BIGINT, seller BIGINT, ORDERED BY (id)) USING json LOCATION 'auction';
SELECT a.id /*+ MJOIN */ FROM auction AS a; -- + this is a comment
/* as is this */ SELECT id /* and + this */ FROM auction;
