"""Joins of three and more streams, as one join and as trees: DuckDB's rows, and no state when all is closed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import duckdb
import sqlglot
from pyspark.sql import SparkSession

from caesura.testing.script import Item, Script

STREAMS = ("r", "s", "t", "u")
VALUES = range(6)
CHAIN = "FROM r JOIN s ON r.y = s.x JOIN t ON s.y = t.x"
QUERIES = {
    "chain": f"SELECT /*+ MJOIN */ r.x, s.x AS a, t.x AS b, t.y {CHAIN}",
    "tree": f"SELECT /*+ TREE((r, s), t) */ r.x, s.x AS a, t.x AS b, t.y {CHAIN}",
    "bushy": f"SELECT /*+ TREE((r, s), (t, u)) */ r.x, s.x AS a, u.x AS b, u.y {CHAIN} JOIN u ON t.y = u.x",
    "cycle": """SELECT /*+ MJOIN */ r.x, s.x AS a, t.x AS b
        FROM r JOIN s ON r.y = s.x JOIN t ON s.y = t.x AND t.y = r.x""",
    "clique": "SELECT s.x, r.y, s.y AS a FROM r, s, t WHERE r.x = s.x AND s.x = t.x AND r.y = t.y",
}


def test_joins_of_many_streams_equal_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    declared = (
        f"CREATE STREAM {name} (x BIGINT, y BIGINT, PUNCTUATED BY (x), PUNCTUATED BY (y)) FROM FILES {name};"
        for name in STREAMS
    )
    inserts = (
        f"CREATE SINK {name} USING parquet LOCATION '{name}'; INSERT INTO {name} {query};"
        for name, query in QUERIES.items()
    )
    script = Script(spark, tmp_path, "\n".join((*declared, *inserts)))
    rng = Random(1)
    database = duckdb.connect()
    for name in STREAMS:
        database.execute(f"CREATE TABLE {name} (x BIGINT, y BIGINT)")
    for closed in ((), (0, 1)):
        rows: dict[str, list[Item]] = {
            name: [{c: rng.choice([v for v in VALUES if v not in closed]) for c in "xy"} for _ in range(8)]
            for name in STREAMS
        }
        for name, several in rows.items():
            values = [[*row.values()] for row in several if isinstance(row, dict)]
            database.executemany(f"INSERT INTO {name} VALUES (?, ?)", values)
        punctuations = ['{"x": [0, 1]}', '{"y": {"lt": 2}}']
        script.slice(**{name: [*several, *punctuations] for name, several in rows.items()})
    script.slice(**{name: ['{"x": {"ge": 2}}', '{"y": {"ge": 2}}'] for name in STREAMS})
    script.run()
    for name, query in QUERIES.items():
        wanted = Counter(database.execute(sqlglot.transpile(query, read="spark", write="duckdb")[0]).fetchall())
        assert wanted, name
        assert Counter(tuple(row.values()) for row in script.rows(name)) == wanted, name
    assert script.progress[1].state_rows > 0
    assert script.progress[-1].state_rows == 0


def test_a_row_goes_as_soon_as_one_order_lets_it(spark: SparkSession, tmp_path: Path) -> None:
    """r asks s and then t, since both are pinned. That t alone has closed its value, and has no such row, is seen
    in the other order."""
    declared = (
        f"CREATE STREAM {name} (x BIGINT, y BIGINT, PUNCTUATED BY (x), PUNCTUATED BY (y)) FROM FILES {name};"
        for name in STREAMS
    )
    text = "\n".join((*declared, f"{QUERIES['cycle']};"))
    for every_order, left in ((False, 1), (True, 0)):
        script = Script(spark, tmp_path / str(every_order), text, every_order=every_order)
        script.slice(r=[{"x": 1, "y": 2}])
        script.slice(t=['{"y": 1}'])
        script.run()
        assert [progress.state_rows for progress in script.progress] == [1, left]


def test_rows_go_by_the_fewest_schemes(spark: SparkSession, tmp_path: Path) -> None:
    """Those on x will do, so that what t says of y is not asked. The checkpoint keeps to that."""
    declared = (
        f"CREATE STREAM {name} (x BIGINT, y BIGINT, PUNCTUATED BY (x), PUNCTUATED BY (y)) FROM FILES {name};"
        for name in STREAMS[:3]
    )
    text = "\n".join((*declared, f"{QUERIES['cycle']};"))
    script = Script(spark, tmp_path, text, every_order=True, fewest_schemes=True)
    script.slice(r=[{"x": 1, "y": 2}])
    script.run()
    again = Script(spark, tmp_path, text, every_order=True)
    again.slice(r=[])
    again.slice(t=['{"y": 1}'])
    again.slice(s=['{"x": 2}'])
    again.run()
    assert [progress.state_rows for progress in (*script.progress, *again.progress)] == [1, 1, 0]


def test_rows_meet_by_equalities_that_others_imply(spark: SparkSession, tmp_path: Path) -> None:
    """A row of the last stream asks the first, with which no equality compares it, and is not kept by rows of it
    with other keys."""
    declared = (
        f"CREATE STREAM {name} (k BIGINT, v INT, PUNCTUATED BY (k)) FROM FILES {name};" for name in STREAMS[:3]
    )
    query = "SELECT r.k FROM r JOIN s ON r.k = s.k AND r.v <= s.v JOIN t ON s.k = t.k AND r.v <= t.v;"
    script = Script(spark, tmp_path, "\n".join((*declared, query)))
    for k in range(4):
        items: list[Item] = [{"k": k, "v": 1}, f'{{"k": {k - 1}}}']
        script.slice(**dict.fromkeys(STREAMS[:3], items))
    script.run()
    assert [progress.state_rows for progress in script.progress] == [3, 3, 3, 3]


def test_partners_are_those_that_can_meet(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of s meet those of t by what rows of r have in common; a row of the table with NULL meets nothing."""
    text = """
    CREATE STREAM r (a INT, b INT, z INT, PUNCTUATED BY (z)) FROM FILES r;
    CREATE STREAM s (x INT, PUNCTUATED BY (x)) FROM FILES s;
    CREATE STREAM t (y INT, z INT, PUNCTUATED BY (y)) FROM FILES t;
    CREATE STREAM p (k INT, PUNCTUATED BY (k)) FROM FILES p;
    CREATE STREAM q (z INT, PUNCTUATED BY (z)) FROM FILES q;
    SELECT /*+ MJOIN */ r.z FROM r JOIN s ON r.a = s.x JOIN t ON r.b = t.y AND r.z = t.z WHERE r.a = r.b;
    SELECT p.k FROM p JOIN (VALUES (1, NULL), (2, 5)) AS f (k, z) ON p.k = f.k JOIN q ON f.z = q.z;
    """
    script = Script(spark, tmp_path, text)
    script.slice(
        s=[{"x": 1}, {"x": 2}, {"x": 3}],
        t=[{"y": 9, "z": 5}, '{"y": [1, 2, 3]}'],
        p=[{"k": 1}, {"k": 1}, {"k": 2}],
        q=['{"z": 5}'],
    )
    script.run()
    assert {name: n for name, n in script.progress[0].state.items() if n and "closed" not in name} == {
        "join: t": 1
    }
