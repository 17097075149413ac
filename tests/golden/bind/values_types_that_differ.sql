SELECT * FROM VALUES (1, 2), (3, 'x') AS t (a, b);
