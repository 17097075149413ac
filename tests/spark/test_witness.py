"""A witness of N rows, run all the same, ends with N rows of state."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import caesura
from caesura.cli import main

SILENT_BID = """
CREATE STREAM auction (id BIGINT, seller BIGINT, PUNCTUATED BY (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, price DOUBLE) USING json LOCATION 'bid';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction;
"""
OPEN_GROUPS = """
CREATE STREAM bid (auction BIGINT, bidder STRING, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT bidder, COUNT(*) AS bids FROM bid GROUP BY bidder;
"""
BROKEN_CYCLE = """
CREATE STREAM s1 (a BIGINT, b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's1';
CREATE STREAM s2 (b BIGINT, c BIGINT, PUNCTUATED BY (c)) USING json LOCATION 's2';
CREATE STREAM s3 (c BIGINT, a BIGINT, PUNCTUATED BY (a, c)) USING json LOCATION 's3';
SELECT s1.a, s2.b, s3.c FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c AND s1.a = s3.a;
"""
NO_BOUND = """
CREATE STREAM s (a INT, b INT, c INT) USING json LOCATION 's';
CREATE STREAM t (d INT, e INT) USING json LOCATION 't';
SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND s.c < t.e AND s.a BETWEEN 1 AND 3 AND s.b > s.a;
"""
EQUAL_ROWS = """
CREATE STREAM bid (auction BIGINT, price BIGINT, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT * FROM bid QUALIFY RANK() OVER (ORDER BY price) <= 2;
"""
SESSIONS_OF_NULL = """
CREATE STREAM bid (auction BIGINT, at TIMESTAMP, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT auction, COUNT(*) AS n FROM bid GROUP BY session_window(at, '10 seconds'), auction;
"""
PARTITION_OF_NULL = """
CREATE STREAM bid (auction BIGINT, price BIGINT, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid;
"""


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        pytest.param(SILENT_BID, 10, id="a silent partner"),
        pytest.param(OPEN_GROUPS, 100, id="groups that never close"),
        pytest.param(BROKEN_CYCLE, 1000, id="a broken cycle"),
        pytest.param(NO_BOUND, 50, id="values without bound"),
        pytest.param(EQUAL_ROWS, 20, id="equal rows"),
        pytest.param(SESSIONS_OF_NULL, 20, id="sessions without a key"),
        pytest.param(PARTITION_OF_NULL, 20, id="a partition without a key"),
    ],
)
def test_the_state_ends_with_as_many_rows_as_the_witness(
    spark: SparkSession, tmp_path: Path, sql: str, rows: int
) -> None:
    file = tmp_path / "pipeline.sql"
    file.write_text(sql, encoding="utf-8")
    for line in sql.splitlines():
        if "LOCATION" in line:
            (tmp_path / line.split("'")[1]).mkdir()
    arguments = ["witness", str(file), "--query", "select_1", "--rows", str(rows), "--out", str(tmp_path)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    prepared = caesura.Session(spark).file(file)
    with pytest.raises(caesura.CaesuraError, match="CAE01"):
        prepared.start(format="memory")
    query = prepared.start(format="memory", allow_unbounded=True)
    query.processAllAvailable()
    last = query.lastProgress
    query.stop()
    assert last is not None
    assert last.state_rows == rows
    assert last.quarantined_total == 0
    assert last.unbounded == prepared.unbounded
    assert "UNBOUNDED" in last.line()
