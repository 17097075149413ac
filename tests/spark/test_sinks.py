"""What can stand at either end of a query: formats, tables, derived streams, DataFrames, and how a stream ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import caesura
from caesura.diagnostics import CaesuraError
from caesura.testing.script import Script

BID = "CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) FROM FILES bid;"
OUT = "CREATE SINK out USING parquet LOCATION 'out';"


def values(script: Script, sink: str = "out", slice: int | None = None) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in script.rows(sink, slice)]


def test_results_go_to_any_format(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats = {"parquet": "LOCATION 'parquet'", "json": "LOCATION 'json'", "orc": "LOCATION 'orc'", "noop": ""}
    formats |= {"csv": "LOCATION 'csv' OPTIONS (header 'true')", "console": "", "memory": ""}
    sinks = "".join(f"CREATE SINK as_{name} USING {name} {place};\n" for name, place in formats.items())
    inserts = "".join(f"INSERT INTO as_{name} SELECT auction, price FROM bid;\n" for name in formats)
    script = Script(spark, tmp_path, f"{BID}\n{sinks}{inserts}SELECT auction AS printed FROM bid;")
    script.slice(bid=[{"auction": 1, "price": 2.5}, {"auction": 2, "price": None}])
    script.slice(bid=[{"auction": 3, "price": 4.0}])
    script.run_to_end()

    wanted = [(1, 2.5), (2, None), (3, 4.0)]
    assert values(script, "parquet") == wanted
    assert sorted(tuple(row) for row in spark.table("as_memory").collect()) == wanted
    assert sorted(tuple(row) for row in spark.read.orc(str(tmp_path / "orc")).collect()) == wanted
    lines = [line for file in (tmp_path / "json").glob("*.json") for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["auction"] for line in lines) == [1, 2, 3]
    rows = [row for file in (tmp_path / "csv").glob("*.csv") for row in csv.DictReader(file.open())]
    assert sorted((row["auction"], row["price"]) for row in rows) == [("1", "2.5"), ("2", ""), ("3", "4.0")]
    printed = capsys.readouterr().out
    assert "as_console, slice 0: 2 rows" in printed
    assert "as_console, slice 1: 1 row\n" in printed
    assert "select_1, slice 0: 2 rows" in printed
    assert "|      2| NULL|" in printed
    assert script.progress[0].output == {f"as_{name}": 2 for name in formats} | {"select_1": 2}
    assert not list(tmp_path.glob("*/_caesura/*"))


def test_a_table_stands_beside_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "category.csv").write_text("10,books\n11,music\n11,sound\n,nothing\n", encoding="utf-8")
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE STREAM auction (id BIGINT, category INT, UNIQUE (id)) FROM FILES auction;
        CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category.csv';
        {OUT}
        CREATE SINK names USING parquet LOCATION 'names';
        INSERT INTO out SELECT a.id, c.name FROM auction AS a JOIN category AS c ON a.category = c.id;
        INSERT INTO names SELECT id, COUNT(*) AS names FROM category WHERE name <> 'sound' GROUP BY id;
        """,
    )
    script.slice(auction=[{"id": 1, "category": 10}, {"id": 2, "category": 11}, {"id": 3, "category": None}])
    script.slice(auction=[{"id": 4, "category": 10}, {"id": 5, "category": 12}])
    script.run_to_end()
    assert values(script) == [(1, "books"), (2, "music"), (2, "sound"), (4, "books")]
    assert values(script, slice=1) == [(4, "books")]
    assert values(script, "names") == [(None, 1), (10, 1), (11, 1)]
    assert [progress.state_rows for progress in script.progress] == [0, 0, 0]


def test_a_query_over_tables_alone_gives_all_at_once(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "category.csv").write_text("10,books\n11,music\n", encoding="utf-8")
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category.csv';
        {OUT}
        INSERT INTO out SELECT c.id, d.name FROM category AS c JOIN category AS d ON c.id = d.id WHERE c.id > 10;
        """,
    )
    script.run_to_end()
    assert values(script) == [(11, "music")]
    script.run_to_end()
    assert values(script) == [(11, "music")]


def test_queries_of_one_file_share_a_derived_stream(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE STREAM auction (id BIGINT, category INT, UNIQUE (id)) FROM FILES auction;
        {BID}
        CREATE STREAM best AS SELECT a.id, a.category, MAX(b.price) AS price
        FROM auction AS a JOIN bid AS b ON a.id = b.auction GROUP BY a.id, a.category;
        {OUT}
        CREATE SINK dear USING parquet LOCATION 'dear';
        INSERT INTO out SELECT id, price FROM best;
        INSERT INTO dear SELECT id, category FROM best WHERE price > 5;
        """,
    )
    script.slice(
        auction=[{"id": 1, "category": 10}, {"id": 2, "category": 11}],
        bid=[{"auction": 1, "price": 9.0}, {"auction": 2, "price": 3.0}, '{"auction": 1}'],
    )
    script.slice(bid=[{"auction": 2, "price": 5.0}, '{"auction": 2}'])
    script.run_to_end()
    assert values(script, slice=0) == [(1, 9.0)]
    assert values(script) == [(1, 9.0), (2, 5.0)]
    assert values(script, "dear") == [(1, 10)]
    groups = [name for name in script.progress[0].state if name.startswith("group") and ":" not in name]
    assert groups == ["group"]


def test_an_aggregate_without_groups_waits_for_the_end_of_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        f"""
        {BID}
        {OUT}
        CREATE SINK none USING parquet LOCATION 'none';
        INSERT INTO out SELECT COUNT(*) AS n, SUM(price) AS total, AVG(price) AS mean, MIN(auction) AS least
        FROM bid;
        INSERT INTO none SELECT COUNT(price) AS n, SUM(price) AS total FROM bid WHERE price > 100;
        """,
    )
    script.slice(bid=[{"auction": 1, "price": 1.0}, {"auction": 2, "price": 2.0}, '{"auction": 1}'])
    script.slice(bid=[{"auction": 2, "price": None}, '{"auction": {"ge": 0}}'])
    script.slice(bid=["{}"])
    script.slice(bid=[{"auction": -1, "price": 1000.0}])
    query = script.run()
    assert values(script, slice=2) == [(3, 3.0, 1.5, 1)]
    assert values(script) == [(3, 3.0, 1.5, 1)]
    assert values(script, "none") == [(0, None)]
    assert [row for _, _, _, row in script.quarantine(query)] == ['{"auction":-1,"price":1000.0}']
    script.run_to_end()
    assert values(script) == [(3, 3.0, 1.5, 1)]


def test_an_ordered_stream_closes_groups_by_time_and_sets_late_rows_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE STREAM reading (at TIMESTAMP, v INT, ORDERED BY (at WITHIN INTERVAL 5 SECONDS)) FROM FILES reading;
        CREATE STREAM word (w STRING, ORDERED BY (w)) FROM FILES word;
        {OUT}
        CREATE SINK words USING parquet LOCATION 'words';
        INSERT INTO out SELECT at, SUM(v) AS v FROM reading GROUP BY at;
        INSERT INTO words SELECT w, COUNT(*) AS n FROM word GROUP BY w;
        """,
    )

    def at(second: int) -> str:
        return f"2026-01-01T00:00:{second:02}Z"

    script.slice(reading=[{"at": at(s), "v": s} for s in (0, 1, 1, 7)], word=[{"w": "a"}, {"w": "o'clock"}])
    script.slice(reading=[{"at": at(s), "v": s} for s in (1, 2, 3, 8)], word=[{"w": "o'clock"}, {"w": "b"}])
    script.slice(reading=[{"at": at(s), "v": s} for s in (20,)], word=[{"w": "z\\"}])
    query = script.run_to_end()

    by_slice = [[v for _, v in values(script, slice=number)] for number in range(4)]
    assert by_slice == [[0, 2], [2], [3, 7, 8], [20]]
    assert values(script, "words") == [("a", 1), ("o'clock", 2), ("z\\", 1)]
    assert values(script, "words", slice=2) == [("o'clock", 2)]
    late = [(slice, stream) for slice, stream, _, _ in script.quarantine(query)]
    assert late == [(1, "reading"), (1, "word")]
    assert script.progress[-1].state_rows == 0


def test_a_dataframe_is_a_stream_and_the_handle_is_that_of_a_streaming_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    def write(number: int, *lines: dict[str, object]) -> None:
        (tmp_path / f"{number}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))

    write(0, {"auction": 1, "price": 2.0}, {"auction": 2, "price": 3.0}, {"closed": '{"auction": 1}'})
    frame = spark.readStream.schema("auction BIGINT, price DOUBLE, closed STRING").json(str(tmp_path))
    session = caesura.Session(spark)
    session.stream("bid", frame, punctuated_by=["auction"], punctuation="closed")
    session.table("names", spark.createDataFrame([(1, "one"), (2, "two")], "id BIGINT, name STRING"))
    prepared = session.sql(
        "SELECT b.auction, n.name, MAX(b.price) AS price FROM bid b JOIN names n ON b.auction = n.id "
        "GROUP BY b.auction, n.name"
    )
    assert all(verdict.safe for verdict in prepared.check())

    query = prepared.start(format="memory")
    assert query.isActive
    assert query.name == "select_1"
    query.processAllAvailable()
    assert [tuple(row) for row in spark.table("select_1").collect()] == [(1, "one", 2.0)]
    assert query.awaitTermination(0.1) is False
    write(1, {"auction": 2, "price": 7.0}, {"closed": '{"auction": 2}'}, {"auction": 1, "price": 9.0})
    query.processAllAvailable()
    assert sorted(tuple(row) for row in spark.table("select_1").collect()) == [(1, "one", 2.0), (2, "two", 7.0)]
    assert query.quarantine().count() == 1

    assert query.lastProgress is query.recentProgress[-1]
    assert [progress.rows_in for progress in query.recentProgress if progress.rows_in] == [2, 2]
    query.stop()
    assert not query.isActive
    assert query.awaitTermination() is True
    assert query.exception() is None


def test_a_failed_query_says_so_through_its_handle(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "0.json").write_text('{"v": 0}\n')
    session = caesura.Session(spark)
    session.stream("zero", spark.readStream.schema("v INT").json(str(tmp_path / "data")))
    query = session.sql("SELECT 1 / v AS w FROM zero").start(str(tmp_path / "out"), until_end=True)
    with pytest.raises(CaesuraError, match="slice 0 failed"):
        query.awaitTermination()
    failure = query.exception()
    assert failure is not None
    assert "DIVIDE_BY_ZERO" in failure.diagnostics[0].because[0]
    assert not query.isActive


def test_what_is_no_stream_is_refused(spark: SparkSession) -> None:
    session = caesura.Session(spark)
    frame = spark.range(3)
    with pytest.raises(CaesuraError, match="not a streaming one"):
        session.stream("numbers", frame)
    session.table("numbers", frame)
    with pytest.raises(CaesuraError, match="declared already"):
        session.table("Numbers", frame)
    ticks = spark.readStream.format("rate").load()
    with pytest.raises(CaesuraError, match="no column `tick`"):
        session.stream("ticks", ticks, ordered_by="tick")
    session.stream("ticks", ticks)
    unsafe = session.sql("SELECT value, COUNT(*) AS n FROM ticks GROUP BY value")
    with pytest.raises(CaesuraError, match="grow"):
        unsafe.start()


def test_distinct_rows_come_once_and_are_forgotten_when_closed(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark, tmp_path, f"{BID}\n{OUT}\nINSERT INTO out SELECT DISTINCT auction, price > 10 AS dear FROM bid;"
    )
    script.slice(bid=[{"auction": 1, "price": 5.0}, {"auction": 1, "price": 6.0}, {"auction": 2, "price": None}])
    script.slice(bid=[{"auction": 1, "price": 7.0}, {"auction": 2, "price": None}, '{"auction": 1}'])
    script.slice(bid=[{"auction": 2, "price": 20.0}, '{"auction": 2}'])
    script.run()
    assert values(script, slice=0) == [(1, False), (2, None)]
    assert values(script, slice=1) == []
    assert values(script, slice=2) == [(2, True)]
    assert [progress.state_rows for progress in script.progress] == [2, 1, 0]
