SELECT id FROM range(10);
