"""Results in a database, or in any other format. Derby comes with Spark; what it shows is the same for others."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import DataFrameWriter, SparkSession

from caesura.catalog import Origin
from caesura.checkpoint.manifest import Result
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.spark.database import Database
from caesura.spark.sinks import FormatSink
from caesura.testing.script import Script
from tests.spark.power import power

TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE SINK out USING jdbc OPTIONS (url '{url}', dbtable '{table}');
INSERT INTO out SELECT k, COUNT(*) AS n FROM a GROUP BY k;
"""


@pytest.fixture
def database(spark: SparkSession) -> Database:
    return Database(spark, {"url": f"jdbc:derby:memory:{uuid4().hex};create=true"})


def script(database: Database, folder: Path, table: str = "counts") -> Script:
    text = TEXT.format(url=database.options["url"], table=table)
    return Script(database.spark, folder, text, take_over=True)


def rows(database: Database, table: str = "counts") -> list[tuple[object, ...]]:
    frame = database.spark.read.format("jdbc").options(**database.options, dbtable=table).load()
    return sorted(map(tuple, frame.collect()))


def add_slice(counting: Script, number: int) -> None:
    counting.slice(
        a=[{"k": number, "x": 1}, {"k": number, "x": 2}, {"k": number + 1, "x": 3}, f'{{"k": {number}}}']
    )


def staged(database: Database) -> tuple[str, ...]:
    with database.transaction() as transaction:
        return tuple(name for name in transaction.tables("caesura_") if name != "caesura_slices")


def refusal(counting: Script) -> tuple[str, str]:
    """Of a run: its code and its reason."""
    with pytest.raises(CaesuraError) as refused:
        counting.run()
    (diagnostic,) = refused.value.diagnostics
    return diagnostic.code, " ".join(diagnostic.because)


def test_slice_and_number_are_one_transaction(database: Database, tmp_path: Path) -> None:
    counting = script(database, tmp_path)
    number = 0
    for point, times in (("results staged", 1), ("ready", 1), ("half published", 1), ("half published", 2)):
        add_slice(counting, number)
        with power(point, times):
            assert refusal(counting) == (Code.SLICE_FAILED, "power lost")
        number += 1
        add_slice(counting, number)
        number += 1
        counting.run()
        assert rows(database) == [(each, 2 if each == 0 else 3) for each in range(number)]
        assert staged(database) == ()


def test_tables_may_have_columns_of_their_own(database: Database, tmp_path: Path) -> None:
    with database.transaction() as transaction:
        transaction.execute("CREATE SCHEMA shop")
        transaction.execute("CREATE TABLE shop.kept (since TIMESTAMP DEFAULT CURRENT_TIMESTAMP, N INT, K INT)")
    counting = script(database, tmp_path, "shop.kept")
    add_slice(counting, 0)
    counting.run()
    assert [row[1:] for row in rows(database, "shop.kept")] == [(2, 0)]
    assert all(row[0] is not None for row in rows(database, "shop.kept"))


def test_checkpoint_that_is_older_than_the_table_is_refused(database: Database, tmp_path: Path) -> None:
    counting = script(database, tmp_path)
    add_slice(counting, 0)
    counting.run()
    with database.transaction() as transaction:
        transaction.execute("UPDATE caesura_slices SET slice = 7")
    assert refusal(counting) == (Code.DAMAGED, "slice 7 is in the table, and the last of the checkpoint is 0")


def test_staged_rows_that_are_gone_are_missed(database: Database, tmp_path: Path) -> None:
    counting = script(database, tmp_path)
    add_slice(counting, 0)
    with power("committed", 1):
        refusal(counting)
    (table,) = staged(database)
    with database.transaction() as transaction:
        transaction.execute(f"DELETE FROM {table}")
    assert refusal(counting) == (Code.DAMAGED, "the table has 0 rows, and had 1")
    assert rows(database) == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("dbtable 'counts'", "needs OPTIONS (url …)"),
        ("url 'jdbc:derby:memory:none', dbtable 'counts'", "memory:none"),
        ("url 'jdbc:nothing:x', dbtable 'counts'", "No suitable driver"),
    ],
)
def test_database_that_cannot_be_written_is_refused_at_the_start(
    spark: SparkSession, tmp_path: Path, options: str, why: str
) -> None:
    text = TEXT.replace("url '{url}', dbtable '{table}'", options)
    counting = Script(spark, tmp_path, text)
    add_slice(counting, 0)
    code, because = refusal(counting)
    assert code == Code.SINK
    assert why in because


def test_table_without_a_column_is_refused_at_the_start(database: Database, tmp_path: Path) -> None:
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE counts (k INT)")
    counting = script(database, tmp_path)
    add_slice(counting, 0)
    code, because = refusal(counting)
    assert code == Code.SINK
    assert "`n`" in because or '"n"' in because


def test_any_other_format_is_told_the_number_of_the_slice(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[dict[str, str]]()
    options = DataFrameWriter.options

    def recorded(writer: DataFrameWriter, **given: str) -> DataFrameWriter:
        told.append(given)
        return options(writer, **given)

    monkeypatch.setattr(DataFrameWriter, "options", recorded)
    sink = FormatSink(Origin("noop", options=(("mine", "1"),)), None, "mark-query")
    assert sink.stage(3, spark.range(2).toDF("k")) == Result(2)
    assert told[0] == {"txnAppId": "mark-query", "txnVersion": "3", "mine": "1"}
    told.clear()
    sink.stage(3, spark.range(2).toDF("k"), ends=True)
    assert told[0] == {"txnAppId": "mark-query-end", "txnVersion": "3", "mine": "1"}


def test_an_older_checkpoint_changes_no_sink(database: Database, tmp_path: Path) -> None:
    """Not even one that could take rows back."""
    counting = script(database, tmp_path)
    files = "CREATE SINK files USING parquet LOCATION 'files'; INSERT INTO files SELECT k, x FROM a;"
    counting.file.write_text(f"{files} {counting.file.read_text()}")
    add_slice(counting, 0)
    counting.run()
    shutil.copytree(counting.checkpoint, tmp_path / "older")
    add_slice(counting, 1)
    counting.run()
    before = counting.rows("files")
    shutil.move(counting.checkpoint, tmp_path / "newer")
    shutil.copytree(tmp_path / "older", counting.checkpoint)
    code, _ = refusal(counting)
    assert code == Code.DAMAGED
    assert counting.rows("files") == before


def test_rows_that_the_table_refuses_wait_until_it_takes_them(database: Database, tmp_path: Path) -> None:
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE counts (k BIGINT, n BIGINT, CONSTRAINT few CHECK (n < 2))")
    counting = script(database, tmp_path)
    add_slice(counting, 0)
    code, _ = refusal(counting)
    assert code == Code.SLICE_FAILED
    code, why = refusal(counting)
    assert code == Code.SINK
    assert "FEW" in why.upper()
    with database.transaction() as transaction:
        transaction.execute("ALTER TABLE counts DROP CONSTRAINT few")
    counting.run()
    assert rows(database) == [(0, 2)]


def test_a_slice_that_another_run_has_published_is_not_passed_over(database: Database, tmp_path: Path) -> None:
    counting = script(database, tmp_path)
    add_slice(counting, 0)
    counting.run()
    query = counting.start()
    try:
        with database.transaction() as transaction:
            transaction.execute("UPDATE caesura_slices SET slice = 1")
        add_slice(counting, 1)
        with pytest.raises(CaesuraError, match="has slice 1 of this checkpoint already"):
            query.processAllAvailable()
    finally:
        query.stop()
