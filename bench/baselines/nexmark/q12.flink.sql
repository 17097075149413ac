SELECT bidder, COUNT(*) AS bids, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(row_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end
