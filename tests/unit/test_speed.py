"""`caesura check` belongs into every commit, so a file with a hundred queries takes less than a second."""

from __future__ import annotations

import time

from caesura.diagnostics import Source
from caesura.safety.diagnose import diagnose
from caesura.safety.report import report
from caesura.safety.verdict import check
from caesura.sql.bind import bind

STREAMS = """
CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, UNIQUE (id), ORDERED BY (opened),
  CHECK (category BETWEEN 10 AND 14)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction))
USING json LOCATION 'bid';
CREATE STREAM person (id BIGINT, city STRING, UNIQUE (id)) USING json LOCATION 'person';
"""
QUERIES = """
SELECT a.id, MAX(b.price) AS price FROM auction AS a JOIN bid AS b ON a.id = b.auction GROUP BY a.id;
SELECT a.id, p.city FROM auction AS a JOIN bid AS b ON a.id = b.auction JOIN person AS p ON b.bidder = p.id;
SELECT bidder, COUNT(*) AS bids FROM bid GROUP BY bidder;
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.id = b.auction WHERE a.category = 10;
SELECT category, COUNT(*) AS auctions FROM auction GROUP BY category;
"""


def test_a_hundred_queries_are_checked_and_reported_in_a_second() -> None:
    source = Source("hundred.sql", STREAMS + 20 * QUERIES)
    begin = time.process_time()
    verdicts = [check(query) for query in bind(source).queries]
    found = report(verdicts)["queries"]
    complaints = [each for verdict in verdicts for each in diagnose(verdict)]
    assert time.process_time() - begin < 1
    assert len(found) == 100
    assert complaints
    assert {query["verdict"] for query in found} == {"safe", "unsafe"}
