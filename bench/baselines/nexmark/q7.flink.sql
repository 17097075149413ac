SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid AS b JOIN (
  SELECT window_end, MAX(price) AS price
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(row_time), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS m
ON b.price = m.price
WHERE b.date_time BETWEEN m.window_end - INTERVAL '10' SECOND AND m.window_end
