SELECT * FROM VALUES (1, 2), (3) AS t (a, b);
