SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY date_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
FROM (
  SELECT
    a.id, a.seller, b.price, b.date_time,
    ROW_NUMBER() OVER (PARTITION BY a.id, a.seller ORDER BY b.price DESC) AS place
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
)
WHERE place <= 1
