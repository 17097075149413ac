SELECT
  auction, bidder, price, channel,
  CASE lower(channel)
    WHEN 'apple' THEN '0'
    WHEN 'google' THEN '1'
    WHEN 'facebook' THEN '2'
    WHEN 'baidu' THEN '3'
    ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)
  END AS channel_id
FROM bid
WHERE regexp_like(url, '(&|^)channel_id=([^&]*)')
  OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')
