"""The queries of examples/nexmark, all in one pipeline, give what DuckDB gives over the same rows, however cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import duckdb
import pytest
from pyspark.sql import SparkSession

import caesura
from caesura.progress import Progress
from caesura.testing import even_cuts, nexmark_declarations, random_cuts, write_nexmark_streams
from tests.unit.test_nexmark_examples import QUERIES, text

EVENTS = 100_000
DAY = "strftime(date_time, '%Y-%m-%d')"
BUCKET = "time_bucket(INTERVAL '10 seconds', date_time)"
HOPS = """
WITH hop AS (
  SELECT auction, COUNT(*) AS num,
    time_bucket(INTERVAL '2 seconds', date_time) - INTERVAL 2 SECONDS * k AS starttime
  FROM bid, range(5) AS r (k) GROUP BY ALL
)
SELECT auction, num, starttime FROM hop AS h
WHERE num >= (SELECT MAX(num) FROM hop WHERE hop.starttime = h.starttime)
"""
SESSIONS = """
WITH marked AS (
  SELECT bidder, date_time,
    coalesce(date_time - lag(date_time) OVER same > INTERVAL '10 seconds', true) AS starts
  FROM bid WINDOW same AS (PARTITION BY bidder ORDER BY date_time)
), numbered AS (
  SELECT bidder, date_time, COUNT(*) FILTER (WHERE starts) OVER (PARTITION BY bidder ORDER BY date_time) AS session
  FROM marked
)
SELECT bidder, COUNT(*) AS bid_count, MIN(date_time) AS starttime, MAX(date_time) + INTERVAL 10 SECONDS AS endtime
FROM numbered GROUP BY bidder, session
"""
HIGHEST = f"""
SELECT b.auction, b.bidder, b.price, b.date_time, b.extra FROM bid AS b
JOIN (SELECT MAX(price) AS most, {BUCKET} + INTERVAL 10 SECONDS AS endtime FROM bid GROUP BY ALL) AS m
ON b.price = m.most AND b.date_time BETWEEN m.endtime - INTERVAL 10 SECONDS AND m.endtime
"""
NEW_USERS = f"""
SELECT DISTINCT p.id, p.name, p.starttime
FROM (SELECT id, name, {BUCKET} AS starttime FROM person) AS p
JOIN (SELECT seller, {BUCKET} AS starttime FROM auction) AS a ON p.id = a.seller AND p.starttime = a.starttime
"""
PER_WINDOW = f"""
SELECT bidder, COUNT(*) AS bid_count, {BUCKET} AS starttime, {BUCKET} + INTERVAL 10 SECONDS AS endtime
FROM bid GROUP BY ALL
"""
IN_DUCKDB = {"q5": HOPS, "q7": HIGHEST, "q8": NEW_USERS, "q11": SESSIONS, "q12": PER_WINDOW}
"""Those that say what a bucket or a session is; the others differ in the names of functions only."""


@dataclass(frozen=True)
class Cut:
    """One way to cut the stream, and how many events there are in a second of its time."""

    cuts: tuple[float, ...]
    per_second: float
    early: frozenset[str]
    """Queries that withhold rows, and emit some of them before the end."""


BUCKETS = frozenset({"q5", "q7", "q8", "q9", "q11", "q12", "q19"})
DAYS = frozenset({"q5", "q7", "q9", "q11", "q12", "q15", "q16", "q17", "q19"})
HOUR = Cut(tuple(even_cuts(4)), 30, BUCKETS)
UNEVEN = Cut(tuple(random_cuts(6, seed=5)), 30, BUCKETS)
TWO_DAYS = Cut(tuple(even_cuts(3)), 0.6, DAYS)
MANY_SLICES = 100
MANY_EVENTS = 4_000
"""Of a slice: those who may bid are all there long before the second quarter."""
MANY_DAYS = 20


def duckdb_text(query: str) -> str:
    """Without EMIT CHANGES: what it has come to in the end."""
    if query in IN_DUCKDB:
        return IN_DUCKDB[query]
    select = text(query).split(f"INSERT INTO {query}\n")[1].removesuffix(";\n").removesuffix("\nEMIT CHANGES")
    select = re.sub(r"date_format\((\w+), 'yyyy-MM-dd'\)", r"strftime(\1, '%Y-%m-%d')", select)
    return re.sub(r"date_format\((\w+), 'HH:mm'\)", r"strftime(\1, '%H:%M')", select)


def pipeline() -> str:
    """One declaration of each stream, and all queries over them."""
    queries = (re.sub(r"CREATE STREAM .*?;\n", "", text(query), flags=re.DOTALL) for query in QUERIES)
    return nexmark_declarations() + "".join(queries)


def database(folder: Path) -> duckdb.DuckDBPyConnection:
    found = duckdb.connect()
    found.execute("SET TimeZone = 'UTC'")
    for name in ("person", "auction", "bid"):
        times = "CAST(date_time AS TIMESTAMP) AS date_time"
        times += ", CAST(expires AS TIMESTAMP) AS expires" if name == "auction" else ""
        rows = f"SELECT * REPLACE ({times}) FROM read_parquet('{folder}/data/{name}/*.parquet')"
        where = "" if name == "person" else "WHERE _punctuation IS NULL"
        found.execute(f"CREATE VIEW {name} AS {rows} {where}")
    table = f"read_csv('{folder}/data/side_input/*.csv', names = ['key', 'value'])"
    found.execute(f"CREATE VIEW side_input AS SELECT * FROM {table}")
    return found


def written(folder: Path, query: str) -> str:
    if query == "q10":
        return f"SELECT * FROM read_csv('{folder}/out/q10/*.csv', header = true, all_varchar = true)"
    rows = f"read_parquet('{folder}/out/{query}/*.parquet', filename = true)"
    if query == "q4":
        return f"SELECT category, arg_max(mean, filename) AS mean FROM {rows} GROUP BY category"
    return f"SELECT * EXCLUDE (filename) FROM {rows}"


def run(
    spark: SparkSession, folder: Path, events: int, cuts: Sequence[float], per_second: float
) -> list[Progress]:
    """All queries to the end of the streams, as one pipeline."""
    write_nexmark_streams(spark, folder / "data", events, len(cuts) + 1, cuts=cuts, per_second=per_second)
    (folder / "pipeline.sql").write_text(pipeline(), encoding="utf-8")
    progress: list[Progress] = []
    session = caesura.Session(spark)
    query = session.file(folder / "pipeline.sql").start(until_end=True, on_progress=progress.append)
    query.awaitTermination()
    return progress


@pytest.mark.long
@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(HOUR, id="an hour"),
        pytest.param(UNEVEN, id="an hour, unevenly"),
        pytest.param(TWO_DAYS, id="two days"),
    ],
)
def test_every_query_gives_what_duckdb_gives(spark: SparkSession, tmp_path: Path, cut: Cut) -> None:
    """Files of results are only ever added, so what was there before is contained in what is there at the end."""
    progress = run(spark, tmp_path, EVENTS, cut.cuts, cut.per_second)
    found = database(tmp_path)
    wrong = {}
    for name in QUERIES:
        found.execute(f"CREATE TABLE wanted_{name} AS {duckdb_text(name)}")
        found.execute(f"CREATE TABLE {name} AS SELECT * FROM wanted_{name} WHERE false")
        found.execute(f"INSERT INTO {name} {written(tmp_path, name)}")
        one, other = (
            found.sql(f"SELECT * FROM {a} EXCEPT ALL SELECT * FROM {b}").fetchall()
            for a, b in ((name, f"wanted_{name}"), (f"wanted_{name}", name))
        )
        if one or other:
            wrong[name] = (one[:3], other[:3])
    assert wrong == {}
    assert (progress[-1].quarantined_total, progress[-1].state_rows) == (0, 0)
    early = {name for name in QUERIES if sum(each.output.get(name, 0) for each in progress[:-1])}
    assert early >= cut.early


@pytest.mark.long
def test_no_state_of_any_query_grows(spark: SparkSession, tmp_path: Path) -> None:
    """Five days in each quarter, so that days which are half over are in all of them alike."""
    per_second = MANY_SLICES * MANY_EVENTS / (MANY_DAYS * 24 * 3600)
    progress = run(spark, tmp_path, MANY_SLICES * MANY_EVENTS, even_cuts(MANY_SLICES), per_second)
    assert len(progress) > MANY_SLICES
    quarter = MANY_SLICES // 4
    grown = {}
    for table in progress[MANY_SLICES - 1].state:
        rows = [each.state.get(table, 0) for each in progress[:MANY_SLICES]]
        second, last = mean(rows[quarter : 2 * quarter]), mean(rows[3 * quarter :])
        print(f"{table}: {second:,.0f}, {last:,.0f}")
        if last > 1.1 * second + 1:
            grown[table] = (second, last)
    assert grown == {}
