"""A pipeline that was changed goes on where it was, if the change does not matter to what it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.testing.script import Script

TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) FROM FILES b;
CREATE STREAM c (k BIGINT, z BIGINT, PUNCTUATED BY (k)) FROM FILES c;
CREATE SINK out USING parquet LOCATION 'out' OPTIONS (compression 'snappy');
INSERT INTO out SELECT a.k, x, y, z FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k;
"""
COUNTS = """
CREATE TABLE names (k BIGINT, name STRING) USING json LOCATION 'names';
CREATE SINK counts USING parquet LOCATION 'counts';
CREATE SINK named USING parquet LOCATION 'named';
CREATE SINK pairs USING parquet LOCATION 'pairs';
INSERT INTO counts SELECT k, COUNT(*) AS n FROM a GROUP BY k;
INSERT INTO named SELECT k, name FROM names UNION ALL SELECT k, 'x' FROM a;
INSERT INTO pairs SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
"""


def change(script: Script, *changes: tuple[str, str]) -> None:
    text = script.file.read_text()
    for before, now in changes:
        assert before in text
        text = text.replace(before, now)
    script.file.write_text(text)


def test_what_does_not_matter_may_change(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, TEXT)
    script.slice(a=[{"k": 1, "x": 1}], b=[{"k": 1, "y": 2}])
    script.run()
    change(
        script,
        ("SELECT a.k, x", "SELECT /*+ MJOIN */ -- renamed\n q.k, x"),
        (
            "FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k",
            "FROM a AS q JOIN b r ON q.k = r.k JOIN c ON r.k = c.k",
        ),
        ("snappy", "zstd"),
        ("maxFilesPerTrigger 1", "maxFilesPerTrigger 2, rate 7"),
    )
    script.slice(c=[{"k": 1, "z": 3}])
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "x": 1, "y": 2, "z": 3}]
    assert list((tmp_path / "out").glob("*.zstd.parquet"))


def test_queries_that_are_added_begin_with_the_next_slice(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, TEXT)
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "0.json").write_text('{"k": 9, "name": "nine"}\n')
    script.slice(a=[{"k": 1, "x": 1}, '{"k": 7}'], b=[{"k": 1, "y": 2}])
    script.run()
    change(script, ("CREATE SINK out", f"{COUNTS} CREATE SINK out"))
    script.slice(a=[{"k": 1, "x": 5}, {"k": 2, "x": 1}], c=[{"k": 1, "z": 3}])
    script.run(add_queries=True)
    script.slice(a=[{"k": 2, "x": 2}, '{"k": 2}'], b=[{"k": 1, "y": 4}])
    script.run()
    assert script.rows("counts") == [{"k": 2, "n": 2}]
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "x": x, "y": y, "z": 3} for x in (1, 5) for y in (2, 4)]
    assert script.rows("counts") == [{"k": 1, "n": 1}, {"k": 2, "n": 2}]
    assert script.rows("named") == [
        {"k": 1, "name": "x"},
        {"k": 2, "name": "x"},
        {"k": 2, "name": "x"},
        {"k": 9, "name": "nine"},
    ]
    assert script.rows("pairs") == [{"k": 1, "x": 5, "y": 4}]


def test_a_query_that_needs_more_tables_of_a_stream_is_added(spark: SparkSession, tmp_path: Path) -> None:
    text = """
    CREATE STREAM a (k BIGINT, t TIMESTAMP, PUNCTUATED BY (k), ORDERED BY (t)) FROM FILES a;
    CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) FROM FILES b;
    CREATE SINK pairs USING parquet LOCATION 'pairs';
    INSERT INTO pairs SELECT a.k, y FROM a JOIN b ON a.k = b.k;
    """
    script = Script(spark, tmp_path, text)
    script.slice(a=[{"k": 1, "t": "2024-01-01T00:00:00Z"}, {"k": 2, "t": "2024-01-01T00:00:01Z"}, '{"k": 3}'])
    script.run()
    sink = "CREATE SINK times USING parquet LOCATION 'times';"
    times = f"{sink} INSERT INTO times SELECT t, COUNT(*) AS n FROM a GROUP BY t;"
    script.file.write_text(script.file.read_text() + times)
    script.slice(a=[{"k": 1, "t": "2024-01-01T00:00:02Z"}], b=[{"k": 1, "y": 5}])
    script.run(add_queries=True)
    script.run_to_end()
    assert script.rows("pairs") == [{"k": 1, "y": 5}, {"k": 1, "y": 5}]
    assert [row["n"] for row in script.rows("times")] == [1]


def test_a_query_that_could_not_be_added_leaves_no_trace(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, TEXT)
    script.slice(a=[{"k": 1, "x": 1}], b=[{"k": 1, "y": 2}])
    script.run()
    before = script.file.read_text()
    nowhere = "OPTIONS (url 'jdbc:nothing:x', dbtable 'counts')"
    more = (
        f"CREATE SINK counts USING jdbc {nowhere}; INSERT INTO counts SELECT k, COUNT(*) AS n FROM a GROUP BY k;"
    )
    script.file.write_text(before + more)
    with pytest.raises(CaesuraError) as refusal:
        script.run(add_queries=True)
    assert refusal.value.diagnostics[0].code == Code.SINK
    script.file.write_text(before)
    script.slice(c=[{"k": 1, "z": 3}])
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "x": 1, "y": 2, "z": 3}]
