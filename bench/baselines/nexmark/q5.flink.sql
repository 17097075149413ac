WITH counted AS (
  SELECT auction, window_start, window_end, COUNT(*) AS num
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(row_time), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
)
SELECT c.auction, c.num
FROM counted AS c JOIN (
  SELECT window_start, window_end, MAX(num) AS most FROM counted GROUP BY window_start, window_end
) AS m
ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.num >= m.most
