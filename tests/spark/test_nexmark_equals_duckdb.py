"""The queries of examples/nexmark, all in one pipeline, give what DuckDB gives over the same rows, however cut."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

import caesura
from caesura.progress import Progress
from caesura.testing import even_cuts, nexmark_declarations, random_cuts, write_nexmark_streams
from tests.unit.test_nexmark_examples import QUERIES, text

EVENTS = 3_000
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
    coalesce(date_time - lag(date_time) OVER same >= INTERVAL '10 seconds', true) AS starts
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
MINUTE = Cut(tuple(even_cuts(4)), 50, BUCKETS)
UNEVEN = Cut(tuple(random_cuts(6, seed=5)), 50, BUCKETS)
TWO_DAYS = Cut(tuple(even_cuts(3)), 0.02, DAYS)


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


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(MINUTE, id="a minute", marks=pytest.mark.long),
        pytest.param(UNEVEN, id="a minute, unevenly", marks=pytest.mark.long),
        pytest.param(TWO_DAYS, id="two days", marks=pytest.mark.long),
    ],
)
def test_every_query_gives_what_duckdb_gives(spark: SparkSession, tmp_path: Path, cut: Cut) -> None:
    """Files of results are only ever added, so what was there before is contained in what is there at the end."""
    slices = len(cut.cuts) + 1
    write_nexmark_streams(spark, tmp_path / "data", EVENTS, slices, cuts=cut.cuts, per_second=cut.per_second)
    (tmp_path / "pipeline.sql").write_text(pipeline(), encoding="utf-8")
    progress: list[Progress] = []
    session = caesura.Session(spark)
    query = session.file(tmp_path / "pipeline.sql").start(until_end=True, on_progress=progress.append)
    query.awaitTermination()

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
