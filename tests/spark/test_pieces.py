"""A large state of a join is written anew piece by piece, and nothing is lost or read twice meanwhile."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from caesura.checkpoint.manifest import TableVersion, last_manifest
from caesura.checkpoint.storage import LocalStorage
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Script

TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, UNIQUE (k)) FROM FILES a;
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) FROM FILES b;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT a.k, a.x, b.y FROM a JOIN b ON a.k = b.k;
"""
FIRST, SLICES = 40, 6
POLICY = PurgePolicy(eager_rows=8, max_deltas=4)


def held(script: Script) -> TableVersion:
    return last_manifest(LocalStorage(str(script.checkpoint))).tables["join: a"]


def test_the_oldest_piece_of_a_large_table_is_written_anew_at_every_slice(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(spark, tmp_path, TEXT, purge=POLICY)
    script.slice(a=[{"k": k, "x": k} for k in range(FIRST)])
    script.run()
    pieces = held(script).parts
    assert len(pieces) >= POLICY.max_deltas
    assert held(script).rows == FIRST
    assert all(part.rows <= POLICY.piece(FIRST) for part in pieces)
    for number in range(1, SLICES):
        closed = 4 * number
        script.slice(
            a=[{"k": FIRST + number, "x": 0}], b=[{"k": closed, "y": number}, f'{{"k": {{"lt": {closed}}}}}']
        )
        before = held(script)
        script.run()
        written = [part for part in held(script).parts if part.slice == number]
        assert 0 < sum(part.rows for part in written) <= 2 * POLICY.piece(before.rows) + 1
        assert POLICY.due(before)
        assert not set(POLICY.due(before)) & set(held(script).parts)
    still_open = FIRST + SLICES - 1 - 4 * (SLICES - 1)
    assert still_open <= held(script).rows < FIRST
    assert [tuple(row.values()) for row in script.rows("out")] == [(4 * n, 4 * n, n) for n in range(1, SLICES)]
    named = {file.name for part in held(script).parts for file in part.files}
    there = {file.name for file in script.checkpoint.glob("state/*/*/*.parquet") if file.name in named}
    assert there == named


def test_a_file_that_no_manifest_names_is_not_read_and_goes(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, TEXT, purge=POLICY)
    script.slice(a=[{"k": k, "x": k} for k in range(FIRST)])
    script.run()
    part, *_ = held(script).parts
    (file,) = part.files
    (real,) = script.checkpoint.glob(f"state/{part.folder}/*/{file.name}")
    stray = real.with_name("part-stray.parquet")
    stray.write_bytes(real.read_bytes())
    script.slice(b=[{"k": k, "y": 1} for k in range(FIRST)])
    script.run()
    assert len(script.rows("out")) == FIRST
    assert not stray.exists()
