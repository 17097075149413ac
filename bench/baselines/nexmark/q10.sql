SELECT
  auction, bidder, price, date_time, extra,
  DATE_FORMAT(date_time, 'yyyy-MM-dd') AS dt, DATE_FORMAT(date_time, 'HH:mm') AS hm
FROM bid
