SELECT p.id, p.name, p.span.start AS window_start
FROM (SELECT id, name, window(date_time, '10 seconds') AS span FROM person GROUP BY 1, 2, 3) AS p
JOIN (SELECT seller, window(date_time, '10 seconds') AS span FROM auction GROUP BY 1, 2) AS a
ON p.id = a.seller AND p.span = a.span
