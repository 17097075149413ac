"""Keys closed in no order: what cannot match is not asked, and what can always is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Item, Script

ORDERED = """
CREATE STREAM a (key INT, at INT, ORDERED BY (at), PUNCTUATED BY (key)) FROM FILES a;
CREATE STREAM b (key BIGINT, at INT, ORDERED BY (at), PUNCTUATED BY (key)) FROM FILES b;
CREATE SINK pairs USING parquet LOCATION 'pairs';
INSERT INTO pairs SELECT a.key, a.at AS a_at, b.at AS b_at FROM a JOIN b ON a.key = b.key;
"""
UNORDERED = ORDERED.replace("ORDERED BY (at), ", "")
LATE = "it matches an earlier punctuation of its stream"
APPENDING = PurgePolicy(eager_punctuations=0, max_deltas=3)


def rows(at: int, *keys: int | None) -> list[Item]:
    return [{"key": key, "at": at} for key in keys]


def closed(*keys: int) -> Sequence[Item]:
    return [json.dumps({"key": key}) for key in keys]


@pytest.mark.parametrize(
    ("pipeline", "purge"),
    [(ORDERED, APPENDING), (UNORDERED, PurgePolicy())],
    ids=["ordered, appending", "unordered, coalescing"],
)
def test_relevant_after_irrelevant(spark: SparkSession, tmp_path: Path, pipeline: str, purge: PurgePolicy) -> None:
    """Between runs the ranges are in the manifest."""
    script = Script(spark, tmp_path, pipeline, purge=purge)
    script.slice(a=[*rows(1, 1, 5, None), *closed(900, 700)], b=[*rows(1, 2, 5), *closed(800, 500)])
    script.slice(a=[*rows(2, 2, 4), *closed(850, 650)], b=[*rows(2, 6, 700), *closed(550, 600)])
    script.run()
    script.slice(a=[*rows(3, 800, 800, 3), *closed(640, 630)], b=closed(3, 540))
    script.slice(a=closed(6, 2), b=[*rows(4, 540, 3, 900), *closed(5, 1, 4)])
    script.slice(a=[*rows(5, 900, 7, None), *closed(620)], b=closed(7, 530))
    query = script.run()
    assert [[*row.values()] for row in script.rows("pairs")] == [[2, 2, 1], [5, 1, 1]]
    states = [tuple(each.state[f"join: {name}"] for name in "ab") for each in script.progress]
    assert states == [(2, 2), (4, 3), (4, 3), (1, 1), (1, 1)]  # at the end 2, which b may send, and 5, which a may
    assert [item[:3] for item in script.quarantine(query)] == [(3, "b", LATE), (3, "b", LATE), (4, "a", LATE)]


def test_a_slice_is_not_taken_for_the_one_before(spark: SparkSession, tmp_path: Path) -> None:
    """It is planned as if it were alike, but the values are others."""
    script = Script(spark, tmp_path, UNORDERED)
    script.slice(a=[*rows(1, 1, 5), *closed(50, 60)], b=closed(70, 80))
    script.slice(a=[*rows(2, 2, 4), *closed(52, 62)], b=closed(72, 82))
    script.slice(a=[*rows(3, 100, 300), *closed(54, 64)], b=closed(100, 300))
    script.run()
    assert [each.state_rows for each in script.progress] == [2, 4, 4]


def test_rows_near_what_was_closed_are_asked_at_once(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, ORDERED)
    for at in range(4):
        first = 10 * at
        script.slice(
            a=[*rows(at, first + 1, first + 9), *closed(first + 1, first + 9)],
            b=[*rows(at, first + 5, 5, 9), *(closed(5, 7) if at == 1 else ())],
        )
    query = script.run()
    assert [[*row.values()] for row in script.rows("pairs")] == [[9, 0, at] for at in range(4)]
    assert [item[:3] for item in script.quarantine(query)] == [(2, "b", LATE), (3, "b", LATE)]


def test_keys_closed_with_and_without_another_column(spark: SparkSession, tmp_path: Path) -> None:
    """What is not closed by the key alone is not where the closed keys are."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM s (k INT, j INT, PUNCTUATED BY (k), PUNCTUATED BY (k, j)) FROM FILES s;
        CREATE SINK found USING parquet LOCATION 'found';
        INSERT INTO found SELECT k, j FROM s;
        """,
    )
    script.slice(s=['{"k": 1}', '{"k": 5}', '{"k": 20, "j": 3}', '{"k": 5, "j": 3}'])
    script.slice(s=[{"k": 20, "j": 3}, {"k": 20, "j": 4}])
    query = script.run()
    assert script.rows("found") == [{"k": 20, "j": 4}]
    assert [item[:3] for item in script.quarantine(query)] == [(1, "s", LATE)]


def test_states_are_purged_whatever_was_closed_before(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (k INT, at INT, ORDERED BY (at), PUNCTUATED BY (k)) FROM FILES a;
        CREATE STREAM b (k INT, PUNCTUATED BY (k)) FROM FILES b;
        CREATE SINK once USING parquet LOCATION 'once';
        CREATE SINK counted USING parquet LOCATION 'counted';
        INSERT INTO once SELECT DISTINCT k FROM a;
        INSERT INTO counted SELECT g.k, g.n, b.k AS met
          FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) AS g LEFT JOIN b ON g.k = b.k;
        """,
    )
    script.slice(a=[{"k": 20, "at": 1}])
    script.slice(a=[{"k": 30, "at": 2}, '{"k": 1}', '{"k": 5}'], b=['{"k": 1}', '{"k": 5}'])
    script.slice(a=['{"k": 20}'], b=['{"k": 2}', '{"k": 6}'])
    script.slice(b=['{"k": 20}', '{"k": 9}'])
    script.slice(a=['{"k": 30}'], b=['{"k": 30}'])
    script.run()
    assert script.rows("once") == [{"k": 20}, {"k": 30}]
    assert [row["k"] for row in script.rows("counted", 3)] == [20]
    assert [row["k"] for row in script.rows("counted", 4)] == [30]
    assert script.progress[-1].state_rows == 0
