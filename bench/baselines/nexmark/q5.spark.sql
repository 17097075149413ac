WITH counted AS (
  SELECT window(date_time, '10 seconds', '2 seconds') AS span, auction, COUNT(*) AS num FROM bid GROUP BY 1, 2
)
SELECT c.auction, c.num
FROM counted AS c JOIN (SELECT span, MAX(num) AS most FROM counted GROUP BY span) AS m
ON c.span = m.span AND c.num >= m.most
