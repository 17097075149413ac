"""Sliding windows and bounds between times: what leaves when, and results that do not depend on the slicing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import duckdb
import pytest
import sqlglot
from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import OrderedBy, PunctuatedBy
from caesura.testing.script import Script
from tests.plans import join, scan, stream
from tests.spark.against_model import LAZY, Trace, compare_all

A = stream("a", "id t", PunctuatedBy(("id",)), OrderedBy("t"))
B = stream("b", "id u", PunctuatedBy(("id",)), OrderedBy("u"))
IN_TIME = "b.u <= a.t + 2 AND a.t <= b.u"
TRACE: Trace = [
    {"a": [(1, 0), (2, 1), (None, 1), (3, None)], "b": [(1, 2), (1, 3), (2, 0)]},
    {"a": [(1, 2), (3, 3), '{"id": 3}', '{"t": {"lt": 2}}'], "b": [(1, 1), (3, 3), (4, None), '{"u": {"lt": 1}}']},
    {"a": [(2, 4), (5, 4)], "b": [(2, 3), '{"u": {"le": 3}}', '{"id": 5}', '{"u": {"ge": 7}}']},
    {"a": [(4, 9), '{"id": 1, "t": {"le": 5}}'], "b": [(2, 4), (2, 6), '{"id": 2, "u": {"lt": 7}}']},
    {"a": ["{}"], "b": [(4, 5), "{}"]},
]


def test_joins_in_time_equal_the_model(spark: SparkSession, tmp_path: Path) -> None:
    joined = join(scan(A), scan(B), on="a.id = b.id", residual=IN_TIME)
    roots: dict[plan.Plan, tuple[str, ...]] = {
        joined: ("a.id", "b.u"),
        replace(joined, kind="left"): ("a.id", "a.t"),
    }
    compare_all(spark, tmp_path, roots, LAZY, TRACE, "- 1 2 3 4 5")


START = datetime(2026, 1, 1)
SLACK = 5
STREAMS = {
    "auction": "id BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP",
    "bid": "auction BIGINT, price BIGINT, at TIMESTAMP",
    "look": "auction BIGINT, at TIMESTAMP",
}
PROMISES = {
    "auction": "UNIQUE (id), ORDERED BY (opened WITHIN INTERVAL 5 SECONDS)",
    "bid": "ORDERED BY (at WITHIN INTERVAL 5 SECONDS)",
    "look": "ORDERED BY (at WITHIN INTERVAL 5 SECONDS)",
}
QUERIES = {
    "both": (
        """SELECT b.auction, b.price, l.at FROM bid [RANGE INTERVAL 4 SECONDS] AS b
        JOIN look [RANGE INTERVAL 10 SECONDS] AS l ON b.auction = l.auction""",
        """SELECT b.auction, b.price, l.at FROM bid AS b JOIN look AS l ON b.auction = l.auction
        AND l.at <= b.at + INTERVAL 4 SECONDS AND b.at <= l.at + INTERVAL 10 SECONDS""",
    ),
    "one": (
        """SELECT a.id, b.price FROM auction [RANGE INTERVAL 8 SECONDS] AS a JOIN bid AS b ON a.id = b.auction""",
        """SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction
        AND b.at <= a.opened + INTERVAL 8 SECONDS""",
    ),
    "band": (
        """SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction
        AND b.at BETWEEN a.opened AND a.expires""",
        None,
    ),
    "three": (
        """SELECT a.id, b.price, l.at, n.name FROM auction AS a
        JOIN bid [RANGE INTERVAL 3 SECONDS] AS b ON a.id = b.auction AND b.at < a.expires
        JOIN look [RANGE INTERVAL 3 SECONDS] AS l ON l.auction = b.auction
        JOIN category AS n ON n.id = a.category""",
        """SELECT a.id, b.price, l.at, n.name FROM auction AS a
        JOIN bid AS b ON a.id = b.auction AND b.at < a.expires AND a.opened <= b.at + INTERVAL 3 SECONDS
        JOIN look AS l ON l.auction = b.auction AND l.at <= b.at + INTERVAL 3 SECONDS
            AND b.at <= l.at + INTERVAL 3 SECONDS AND a.opened <= l.at + INTERVAL 3 SECONDS
        JOIN category AS n ON n.id = a.category""",
    ),
    "lonely": (
        """SELECT a.id, b.price FROM auction [RANGE INTERVAL 8 SECONDS] AS a LEFT JOIN bid AS b
        ON a.id = b.auction AND b.at >= a.opened""",
        """SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b
        ON a.id = b.auction AND b.at >= a.opened AND b.at <= a.opened + INTERVAL 8 SECONDS""",
    ),
    "unseen": (
        """SELECT b.auction, b.at FROM bid [RANGE INTERVAL 2 SECONDS] AS b WHERE NOT EXISTS
        (SELECT 1 FROM look [RANGE INTERVAL 2 SECONDS] AS l WHERE l.auction = b.auction)""",
        """SELECT b.auction, b.at FROM bid AS b WHERE NOT EXISTS (SELECT 1 FROM look AS l WHERE
        l.auction = b.auction AND l.at <= b.at + INTERVAL 2 SECONDS AND b.at <= l.at + INTERVAL 2 SECONDS)""",
    ),
    "viewed": (
        """SELECT d.auction, d.price, l.at FROM dear [RANGE INTERVAL 3 SECONDS] AS d
        JOIN look [RANGE INTERVAL 3 SECONDS] AS l ON d.auction = l.auction""",
        """SELECT d.auction, d.price, l.at FROM bid AS d JOIN look AS l ON d.auction = l.auction AND d.price > 50
        AND l.at <= d.at + INTERVAL 3 SECONDS AND d.at <= l.at + INTERVAL 3 SECONDS""",
    ),
}
"""Each with its windows, and as DuckDB reads it."""


def drawn(seed: int, seconds: int) -> dict[str, list[dict[str, object]]]:
    """Rows in the order in which they come: up to five seconds late."""
    rng = Random(seed)

    def times(per_second: int) -> Iterator[datetime]:
        for tick in range(seconds * per_second):
            yield START + timedelta(seconds=tick / per_second - rng.choice((0, 0, 0.5, 2, SLACK - 0.5)))

    auctions: list[dict[str, object]] = [
        {"id": n, "category": rng.randrange(4), "opened": t, "expires": t + timedelta(seconds=rng.randrange(9))}
        for n, t in enumerate(times(1))
    ]

    def near(at: datetime) -> int | None:
        return rng.choice((None, *(max(int((at - START).seconds) + n, 0) for n in range(-6, 3))))

    bids: list[dict[str, object]] = [{"auction": near(t), "price": rng.randrange(100), "at": t} for t in times(4)]
    looks: list[dict[str, object]] = [{"auction": near(t), "at": t} for t in times(3)]
    return {"auction": auctions, "bid": bids, "look": looks}


def cut(rows: Sequence[dict[str, object]], ends: Sequence[float]) -> Iterator[Sequence[dict[str, object]]]:
    marks = [0, *(round(end * len(rows)) for end in ends), len(rows)]
    return (rows[start:end] for start, end in pairwise(marks))


def wanted(streams: Mapping[str, list[dict[str, object]]]) -> dict[str, Counter[tuple[object, ...]]]:
    database = duckdb.connect()
    for name, columns in STREAMS.items():
        local = columns.replace("TIMESTAMP", "TIMESTAMP_NTZ")
        database.execute(_in_duckdb(f"CREATE TABLE {name} ({local})"))
        marks = ", ".join("?" for _ in columns.split(","))
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", [[*row.values()] for row in streams[name]])
    database.execute("CREATE TABLE category AS FROM (VALUES (0, 'toys'), (1, 'books')) AS t (id, name)")
    return {
        name: Counter(database.execute(_in_duckdb(plain or text)).fetchall())
        for name, (text, plain) in QUERIES.items()
    }


def _in_duckdb(sql: str) -> str:
    return sqlglot.transpile(sql, read="spark", write="duckdb", identify=True)[0]


def test_windows_give_what_the_predicates_say(spark: SparkSession, tmp_path: Path) -> None:
    streams = drawn(seed=1, seconds=60)
    declared = (f"CREATE STREAM {n} ({c}, {PROMISES[n]}) FROM FILES {n};" for n, c in STREAMS.items())
    inserts = (
        f"CREATE SINK {name} USING parquet LOCATION 'out/{name}'; INSERT INTO {name} {text};"
        for name, (text, _) in QUERIES.items()
    )
    named = """CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category.csv';
    CREATE VIEW dear AS SELECT auction AS auction, price, at FROM bid WHERE price > 50;"""
    script = Script(spark, tmp_path, "\n".join((*declared, named, *inserts)))
    (tmp_path / "category.csv").write_text("0,toys\n1,books\n")
    # The streams are not in step: what one brings in a slice is older than what another does.
    ends = {"auction": (0.3, 0.5), "bid": (0.45, 0.5), "look": (0.4, 0.7)}
    for slices in zip(*(cut(rows, ends[name]) for name, rows in streams.items()), strict=True):
        script.slice(**dict(zip(streams, slices, strict=True)))
    query = script.run_to_end()
    assert script.quarantine(query) == []
    results = wanted(streams)
    for name in QUERIES:
        found = Counter(tuple(row.values()) for row in script.rows(f"out/{name}"))
        assert found == results[name], name
        assert results[name], name
    assert script.progress[-1].state_rows == 0
    arrived = sum(map(len, streams.values())) * len(QUERIES)
    assert max(progress.state_rows for progress in script.progress) < arrived / 2


def test_an_idle_stream_does_not_hold_back_the_others(spark: SparkSession, tmp_path: Path) -> None:
    """It is given up after a moment, and what then comes late is set aside. It does not wait for one that has
    ended, but follows it if there is no other."""
    text = """
    CREATE STREAM click (page STRING, at TIMESTAMP, ORDERED BY (at)) FROM FILES click;
    CREATE STREAM alarm (page STRING, at TIMESTAMP, ORDERED BY (at IDLE AFTER INTERVAL 1 MILLISECOND))
    FROM FILES alarm;
    CREATE SINK quiet USING parquet LOCATION 'quiet';
    INSERT INTO quiet SELECT c.page FROM click [RANGE INTERVAL 10 SECONDS] AS c
    LEFT ANTI JOIN alarm [RANGE INTERVAL 10 SECONDS] AS a ON c.page = a.page;
    CREATE STREAM ended (at TIMESTAMP, ORDERED BY (at)) FROM FILES ended;
    SELECT * FROM ended;
    """

    def at(second: int) -> str:
        return f"2026-01-01 00:{second // 60:02}:{second % 60:02}"

    script = Script(spark, tmp_path, text)
    script.slice(
        click=[{"page": "a", "at": at(0)}], alarm=[{"page": "b", "at": at(0)}], ended=[{"at": at(0)}, "{}"]
    )
    script.slice(click=[{"page": "c", "at": at(60)}])
    script.slice(
        click=[{"page": "d", "at": at(61)}], alarm=[{"page": "c", "at": at(59)}, {"page": "d", "at": at(61)}]
    )
    query = script.run()
    assert script.rows("quiet", slice=1) == [{"page": "a"}]
    assert [(slice, stream) for slice, stream, _, _ in script.quarantine(query)] == [(2, "alarm")]
    script.slice(click=[{"page": "e", "at": at(80)}, "{}"])
    script.slice()
    script.run()
    assert [row["page"] for row in script.rows("quiet")] == ["a", "c"]
    script.run_to_end()
    assert [row["page"] for row in script.rows("quiet")] == ["a", "c", "e"]


def test_it_is_counted_which_rule_let_go_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Purged by a punctuation, expired, joined but never stored, and come when nobody waited any more."""
    text = """
    CREATE STREAM auction (id BIGINT, opened TIMESTAMP, UNIQUE (id), ORDERED BY (opened)) FROM FILES auction;
    CREATE STREAM bid (auction BIGINT, at TIMESTAMP, PUNCTUATED BY (auction), ORDERED BY (at)) FROM FILES bid;
    CREATE SINK out USING parquet LOCATION 'out';
    INSERT INTO out SELECT a.id, b.at FROM auction [RANGE INTERVAL 10 SECONDS] AS a JOIN bid AS b
    ON a.id = b.auction;
    """

    def auction(id: int, second: int) -> dict[str, object]:
        return {"id": id, "opened": f"2026-01-01 00:00:{second:02}"}

    def bid(auction: int, second: int) -> dict[str, object]:
        return {"auction": auction, "at": f"2026-01-01 00:00:{second:02}"}

    script = Script(spark, tmp_path, text, every_rule=True)
    script.slice(auction=[auction(1, 0), auction(2, 1), auction(3, 2)], bid=[bid(1, 2), bid(2, 2), bid(9, 2)])
    script.slice(auction=[auction(4, 5)], bid=[bid(1, 5), '{"auction": 1}'])
    script.slice(auction=[auction(5, 20)], bid=[bid(2, 20), bid(4, 20)])
    script.run()
    assert [progress.released for progress in script.progress] == [
        {"join: b": {"on arrival": 2}},
        {"join: a": {"punctuation": 1}, "join: b": {"on arrival": 1}},
        {"join: a": {"window": 3}, "join: b": {"on arrival": 2, "alone": 2}},
    ]
    assert script.progress[-1].released_total["join: b"] == {"on arrival": 5, "alone": 2}
    assert [row["id"] for row in script.rows("out")] == [1, 1, 2]


def test_rules_are_told_apart_in_a_join_of_three(spark: SparkSession, tmp_path: Path) -> None:
    declared = (
        f"CREATE STREAM {name} (k BIGINT, at TIMESTAMP, PUNCTUATED BY (k), ORDERED BY (at)) FROM FILES {name};"
        for name in "abc"
    )
    sliding = "[RANGE INTERVAL 10 SECONDS]"
    query = f"SELECT a.k FROM a {sliding} JOIN b {sliding} ON a.k = b.k JOIN c {sliding} ON b.k = c.k;"
    script = Script(spark, tmp_path, "\n".join((*declared, query)), every_rule=True)

    def row(k: int, second: int) -> dict[str, object]:
        return {"k": k, "at": f"2026-01-01 00:00:{second:02}"}

    script.slice(**{name: [row(1, 0), row(2, 0)] for name in "abc"})
    script.slice(**{name: ['{"k": 1}'] for name in "abc"})
    script.slice(**{name: [row(3, 20)] for name in "abc"})
    script.run()
    assert [progress.released for progress in script.progress] == [
        {},
        {f"join: {name}": {"punctuation": 1} for name in "abc"},
        {f"join: {name}": {"window": 1} for name in "abc"},
    ]


def test_rows_are_given_up_on_request_and_counted(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
    CREATE STREAM click (page BIGINT, at TIMESTAMP, PUNCTUATED BY (page), ORDERED BY (at))
    USING json LOCATION 'click' OPTIONS (maxFilesPerTrigger 1, release 'INTERVAL 10 SECONDS');
    CREATE STREAM look (page BIGINT, PUNCTUATED BY (page)) FROM FILES look;
    CREATE SINK out USING parquet LOCATION 'out';
    INSERT INTO out SELECT c.page, c.at FROM click AS c JOIN look AS l ON c.page = l.page;
    """
    script = Script(spark, tmp_path, text)
    script.slice(click=[{"page": 1, "at": "2026-01-01 00:00:00"}, {"page": 2, "at": "2026-01-01 00:00:05"}])
    script.slice(click=[{"page": 3, "at": "2026-01-01 00:00:12"}])
    script.slice(look=[{"page": 1}, {"page": 2}])
    script.slice(click=["{}"])  # that there are no more clicks is no reason to give any up
    script.slice(look=[{"page": 3}])
    script.run()
    assert [progress.released for progress in script.progress] == [{}, {"join: c": {"release": 1}}, {}, {}, {}]
    assert "1 given up" in script.progress[-1].line()
    assert caplog.messages == ["slice 1: 1 rows of `join: c` were given up (OPTIONS (release …))"]
    assert [row["page"] for row in script.rows("out")] == [2, 3]
