/*+ MJOIN */ CREATE STREAM auction (id BIGINT, seller BIGINT, ORDERED BY (id)) USING json LOCATION 'auction';
SELECT a.id /*+ MJOIN */ FROM auction AS a; -- /*+ a comment
/* a comment -- /*+ and another */ */ SELECT id /* and + this */ FROM auction /*+ TREE(a, b) */;
