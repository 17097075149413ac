SELECT b.auction, b.bidder, b.price, b.date_time, s.`value`
FROM bid AS b JOIN side_input FOR SYSTEM_TIME AS OF b.row_time AS s ON MOD(b.auction, 10000) = s.key
