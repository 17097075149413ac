"""Sessions on Spark: as the model has them, and over a whole run as DuckDB and Spark itself have them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Column, PunctuatedBy
from caesura.plan import SESSION_END, Aggregate
from caesura.progress import Progress
from caesura.spark.purge import PurgePolicy
from caesura.testing.drawn import Drawn
from caesura.testing.script import Script
from caesura.types import BIGINT, Type
from tests.plans import expr, scan, stream
from tests.spark.against_duckdb import Database, inserts
from tests.spark.against_model import LAZY, Trace, compare_all

B = stream("b", "who at price", PunctuatedBy(("who",)), PunctuatedBy(("at",)))
RESULTS = (
    Aggregate(Column("n", BIGINT), "COUNT"),
    Aggregate(Column("most", BIGINT), "MAX", ("b.price",)),
    Aggregate(Column("mean", Type("DOUBLE")), "AVG", ("b.price",)),
    Aggregate(Column("kinds", BIGINT), "COUNT DISTINCT", ("b.price",)),
)
BY_WHO = plan.Session(scan(B), "b.at", expr("3"), ("b.who",), RESULTS[:3])
OF_ALL = plan.Session(scan(B), "b.at", expr("3"), (), RESULTS[:2])
ASKED: dict[plan.Plan, tuple[str, ...]] = {BY_WHO: ("b.who", SESSION_END), OF_ALL: (SESSION_END,)}
"""Punctuations of every pattern on the keys and the time, alone and together."""
TRACE: Trace = [
    # 1: two sessions, touching rows are one; NULL is a key; a row without a time is in no session
    {"b": [(1, 10, 5), (1, 13, 6), (1, 20, 7), (2, 10, 1), (None, 11, None), (1, None, 9), '{"price": 3}']},
    # a row joins two open sessions; pieces of time close nothing; a key that is closed up to a time
    {"b": [(1, 16, 8), (1, 17, None), (2, 30, 2), '{"at": 40}', '{"at": {"gt": 31, "le": 33}}', '{"who": 3}']},
    # the bound has passed parts of a session that goes on, and all of another
    {"b": [(2, 12, 4), (4, 9, 1), '{"who": 2, "at": {"le": 15}}', '{"at": {"lt": 12}}', '{"who": 4}']},
    {"b": [(1, 22, 1), (None, 14, 2), '{"at": {"le": 16}}', '{"who": [7, 8], "at": {"lt": 99}}']},
    {"b": [(5, 28, 1), (None, 40, 3), (7, 100, 1), '{"who": 1}', '{"at": {"le": 31}, "price": 4}']},
    {"b": ['{"at": {"le": 33}}', (5, 34, 2), (2, 36, 9), (None, 43, 1)]},
    {"b": ['{"who": {"ge": 4, "lt": 6}}', (7, 103, 3)]},
    {"b": [(None, 60, None), "{}"]},
]


def test_sessions_do_what_the_model_does_where_state_is_appended(spark: SparkSession, tmp_path: Path) -> None:
    compare_all(spark, tmp_path, ASKED, LAZY, TRACE, "- 1 2 3 4 5 7 8 12 13 15 16 19 20 31 33 34 98 99")


def test_sessions_do_what_the_model_does_where_state_is_written_anew(spark: SparkSession, tmp_path: Path) -> None:
    compare_all(spark, tmp_path, {BY_WHO: ASKED[BY_WHO]}, PurgePolicy(), TRACE, "- 1 2 4 7 12 16 33 99")


COLUMNS = "bidder BIGINT, channel STRING, price BIGINT, seen TIMESTAMP"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DRAWN = Drawn(
    {
        "bidder": range(5),
        "channel": ("app", "web"),
        "price": range(9),
        "seen": [NOON + timedelta(seconds=5 * n) for n in range(120)],
    },
    closing=[[("bidder", "seen")], [("seen",), ("bidder",)], [("price",)], [("bidder", "seen"), ("channel",)]],
    rising="seen",
)
BY_BIDDER = """SELECT bidder, unix_micros(session_window.start) AS start, unix_micros(session_window.end) AS until,
    COUNT(*) AS bids, SUM(price) AS total, COUNT(DISTINCT price) AS prices, MEDIAN(price) AS middle
    FROM bid GROUP BY session_window(seen, '10 seconds'), bidder"""
ENDED = """SELECT bidder, session_window.end AS until, COUNT(*) AS bids
    FROM bid GROUP BY session_window(seen, '20 seconds'), bidder"""
QUERIES = {
    "by_bidder": BY_BIDDER,
    "of_all": "SELECT COUNT(*) AS n, MAX(price) AS price FROM bid GROUP BY session_window(seen, '5 seconds')",
    "long": """SELECT bidder, channel, COUNT(*) AS n FROM bid
        GROUP BY session_window(seen, '15 seconds'), bidder, channel
        HAVING session_window.end >= session_window.start + INTERVAL 20 SECONDS""",
    "in_order": "SELECT unix_micros(until) AS to, bidder, bids FROM (SELECT * FROM ended ORDER BY until, bidder)",
    "per_minute": """SELECT unix_micros(date_trunc('MINUTE', until)) AS minute, SUM(bids) AS bids
        FROM ended GROUP BY date_trunc('MINUTE', until)""",
}


def islands(gap: int, *keys: str, more: str = "") -> str:
    """Sessions in the SQL that every database has: a row starts one if none came within the gap before it."""
    of = f"PARTITION BY {', '.join(keys)} ORDER BY seen" if keys else "ORDER BY seen"
    length = f"INTERVAL {gap} SECOND"
    starts = f"CASE WHEN seen - lag(seen) OVER ({of}) <= {length} THEN 0 ELSE 1 END"
    numbered = f"SELECT *, SUM(starts) OVER ({of}) AS session FROM (SELECT *, {starts} AS starts FROM bid)"
    results = ", ".join((*keys, "MIN(seen) AS start", f"MAX(seen) + {length} AS until", "COUNT(*) AS n"))
    return f"(SELECT {results}{more} FROM ({numbered}) GROUP BY {', '.join((*keys, 'session'))})"


WANTED = {
    "by_bidder": "SELECT bidder, epoch_us(start), epoch_us(until), n, total, prices, middle FROM "
    + islands(
        10, "bidder", more=", SUM(price) AS total, COUNT(DISTINCT price) AS prices, MEDIAN(price) AS middle"
    ),
    "of_all": f"SELECT n, price FROM {islands(5, more=', MAX(price) AS price')}",
    "long": f"""SELECT bidder, channel, n FROM {islands(15, "bidder", "channel")}
        WHERE until >= start + INTERVAL 20 SECOND""",
    "in_order": f"""SELECT epoch_us(until), bidder, n FROM {islands(20, "bidder")}
        ORDER BY until, bidder NULLS FIRST""",
    "per_minute": f"""SELECT epoch_us(date_trunc('minute', until)), SUM(n) FROM {islands(20, "bidder")}
        GROUP BY date_trunc('minute', until)""",
}


@pytest.mark.long
def test_what_is_out_is_contained_in_the_result_and_equals_it_at_the_end(
    spark: SparkSession, tmp_path: Path
) -> None:
    declared = f"CREATE STREAM bid ({COLUMNS}, PUNCTUATED BY (bidder), ORDERED BY (seen)) FROM FILES bid;"
    script = Script(spark, tmp_path, f"{declared} CREATE STREAM ended AS {ENDED}; {inserts(QUERIES)}")
    for items in DRAWN.slices(rows=40, seed=7):
        script.slice(bid=items)
    wanted = Database(tmp_path, {"bid": COLUMNS}, WANTED)
    before_the_end: dict[str, int] = {}
    wrong: list[tuple[int, str, object]] = []

    def contained(progress: Progress) -> None:
        for name in QUERIES:
            found = wanted.found(name)
            if surplus := Counter(found) - Counter(wanted.wanted(name)):
                wrong.append((progress.slice, name, surplus))
            if progress.rows_in:
                before_the_end[name] = len(found)

    query = script.prepared.start(until_end=True, on_progress=contained)
    query.awaitTermination()
    assert wrong == [], "\n".join(map(str, wrong))
    for name in QUERIES:
        assert Counter(wanted.found(name)) == Counter(wanted.wanted(name)), name
    assert wanted.found("in_order") == wanted.wanted("in_order")
    assert all(before_the_end.values())
    assert query.quarantine().collect() == []
    spark.read.schema(f"{COLUMNS}, _punctuation STRING").json(str(tmp_path / "bid")).where(
        "_punctuation IS NULL"
    ).createOrReplaceTempView("bid")
    assert Counter(map(tuple, spark.sql(BY_BIDDER).collect())) == Counter(wanted.wanted("by_bidder"))
