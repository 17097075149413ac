SELECT
  b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra,
  p.id AS person_id, p.name, p.email_address, p.credit_card, p.city, p.state, p.extra AS person_extra,
  a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category, a.extra
FROM bid AS b JOIN person AS p ON p.id = b.bidder JOIN auction AS a ON a.seller = b.bidder
