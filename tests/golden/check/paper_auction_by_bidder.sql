-- Li et al., section 1: punctuations on the bidder alone never close an item.
CREATE STREAM item (sellerid BIGINT, itemid BIGINT, name STRING, initialprice DOUBLE, UNIQUE (itemid))
USING json LOCATION 'item';
CREATE STREAM bid (bidderid BIGINT, itemid BIGINT, increase DOUBLE, PUNCTUATED BY (bidderid))
USING json LOCATION 'bid';
SELECT i.itemid, SUM(b.increase) AS raised FROM item AS i JOIN bid AS b ON i.itemid = b.itemid GROUP BY i.itemid;
