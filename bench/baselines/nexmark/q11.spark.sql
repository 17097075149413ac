SELECT bidder, COUNT(*) AS bids, span.start AS window_start, span.end AS window_end
FROM (SELECT bidder, session_window(date_time, '10 seconds') AS span FROM bid)
GROUP BY bidder, span
