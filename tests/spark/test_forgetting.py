"""Punctuations are forgotten when all partners have punctuated the same values and no row waits for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Script

PAIRS = """
CREATE STREAM parcel (a STRING, b BIGINT, UNIQUE (a, b)) FROM FILES parcel;
CREATE STREAM scan (b BIGINT, a STRING, PUNCTUATED BY (a, b)) FROM FILES scan;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT p.a, s.b FROM parcel AS p JOIN scan AS s ON p.a = s.a AND p.b = s.b;
"""
CHAIN = """
CREATE STREAM x (k STRING, w STRING, PUNCTUATED BY (k), PUNCTUATED BY (w)) FROM FILES x;
CREATE STREAM z (k STRING, PUNCTUATED BY (k)) FROM FILES z;
CREATE STREAM y (w STRING, PUNCTUATED BY (w)) FROM FILES y;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT x.k, y.w FROM x JOIN z ON x.k = z.k JOIN y ON x.w = y.w;
"""


def key(n: int) -> dict[str, object]:
    return {"a": f"parcel {n}", "b": n}


def closed(script: Script, stream: str, attributes: str) -> list[int]:
    return [progress.state.get(f"{stream}: closed({attributes})", 0) for progress in script.progress]


def test_what_both_sides_have_closed_is_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, PAIRS)
    script.slice(parcel=[key(0)], scan=[key(0)])
    script.slice(parcel=[key(1)], scan=[key(0), json.dumps(key(0))])
    script.slice(scan=[key(1), json.dumps(key(1)), json.dumps(key(2))])
    script.run()
    assert script.rows("out") == [key(0), key(0), key(1)]
    assert closed(script, "parcel", "a, b") == [1, 1, 0]
    assert closed(script, "scan", "b, a") == [0, 0, 1]
    assert [progress.state_rows for progress in script.progress] == [1, 1, 0]


def test_what_a_row_still_waits_for_is_remembered(spark: SparkSession, tmp_path: Path) -> None:
    """The row of x waits for y, also after x and z have closed its k."""
    script = Script(spark, tmp_path, CHAIN)
    script.slice(x=[{"k": "a", "w": "b"}, {"k": "c", "w": "b"}, '{"k": "c"}'], z=[{"k": "a"}])
    script.slice(x=['{"k": "a"}'], z=['{"k": "a"}', '{"k": "c"}'])
    script.slice(y=[{"w": "b"}])
    script.slice(x=['{"w": "b"}'], y=['{"w": "b"}'])
    script.run()
    assert script.rows("out") == [{"k": "a", "w": "b"}]
    assert [progress.state_rows for progress in script.progress] == [3, 2, 3, 0]
    assert closed(script, "x", "k") == [1, 1, 1, 0]
    assert closed(script, "z", "k") == [0, 1, 1, 0]
    assert script.progress[-1].punctuation_rows == 0


@pytest.mark.long
def test_tables_that_are_seldom_written_anew_are_so_together(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, CHAIN, purge=PurgePolicy(eager_rows=0, max_deltas=2))
    script.slice(x=[{"k": "a", "w": "b"}, '{"k": "c"}'], z=[{"k": "a"}])
    script.slice(x=['{"k": "a"}'], y=[{"w": "b"}])
    script.slice(z=['{"k": "a"}', '{"k": "c"}'])
    script.slice(x=['{"w": "b"}'], y=['{"w": "b"}'])
    for n in range(2):
        script.slice(x=[f'{{"k": "{n}"}}', f'{{"w": "{n}"}}'], y=[f'{{"w": "{n}"}}'], z=[f'{{"k": "{n}"}}'])
    script.run()
    assert script.rows("out") == [{"k": "a", "w": "b"}]
    assert script.progress[-1].state_rows == 0
    assert script.progress[-1].punctuation_rows == 0
