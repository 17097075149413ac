SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid AS b JOIN (
  SELECT window(date_time, '10 seconds') AS span, MAX(price) AS price FROM bid GROUP BY 1
) AS m
ON b.price = m.price
WHERE b.date_time BETWEEN m.span.end - INTERVAL 10 SECONDS AND m.span.end
