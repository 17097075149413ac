CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), at TIMESTAMP) USING json LOCATION 'bid';
SELECT bidder, COUNT(DISTINCT auction, price), MEAN(price), avg(price) + 1 AS more,
  PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price) AS p90, PERCENTILE(price, ARRAY(0.1, 0.5)) AS two,
  SUM(price) FILTER (WHERE auction > 1) AS some, COLLECT_LIST(DISTINCT auction) AS all
FROM bid GROUP BY bidder HAVING MODE(price) > 2;
