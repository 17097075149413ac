"""What a pipeline may be called, read from and written to without anything getting lost or mistaken."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import caesura
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.testing.script import Script


def lines(folder: Path) -> list[dict[str, object]]:
    found = [json.loads(line) for file in folder.glob("*.json") for line in file.read_text().splitlines()]
    return sorted(found, key=lambda row: next(iter(row.values())))


def test_two_queries_write_to_one_place(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (id BIGINT) FROM FILES a;
        CREATE SINK k USING json LOCATION 'k';
        CREATE SINK same USING json LOCATION './k';
        INSERT INTO k SELECT id FROM a;
        INSERT INTO k SELECT id + 10 AS id FROM a;
        INSERT INTO same SELECT id + 20 AS id FROM a;
        """,
    )
    script.slice(a=[{"id": 1}])
    script.run_to_end()
    assert lines(tmp_path / "k") == [{"id": 1}, {"id": 11}, {"id": 21}]


def test_columns_may_have_the_names_that_we_use_ourselves(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM s (everything BIGINT, unreadable BIGINT, box BIGINT, _corrupt STRING, _stream STRING,
          `ROWS` STRING, PUNCTUATED BY (everything), PUNCTUATED BY (unreadable), PUNCTUATED BY (box, unreadable),
          UNIQUE (`ROWS`)) FROM FILES s;
        CREATE SINK out USING json LOCATION 'out';
        INSERT INTO out SELECT everything, COUNT(*) AS n, MAX(_corrupt) AS c, MAX(_stream) AS s FROM s
        GROUP BY everything;
        """,
    )
    row = {"unreadable": 1, "box": 1, "_corrupt": "fine", "_stream": "too"}
    script.slice(s=[{"everything": n, "ROWS": f"{n}", **row} for n in (1, 2, 3)])
    script.slice(s=['{"everything": [1, 2]}', '{"unreadable": 9}', '{"unreadable": 8, "box": 8}'])
    script.slice(s=[{"everything": n, "ROWS": f"again {n}", **row} for n in (3, 4)])
    query = script.run_to_end()
    assert query.quarantine().count() == 0
    counts = {1: 1, 2: 1, 3: 2, 4: 1}
    assert lines(tmp_path / "out") == [
        {"everything": key, "n": count, "c": "fine", "s": "too"} for key, count in counts.items()
    ]


def test_conditions_may_be_in_parentheses_or_constant(spark: SparkSession, tmp_path: Path) -> None:
    queries = {
        "alone": "SELECT v FROM s WHERE (v)",
        "nested": "SELECT v FROM (SELECT DISTINCT v FROM s) WHERE (v)",
        "grouped": "SELECT v, COUNT(*) AS n FROM s GROUP BY v HAVING (v)",
        "never": "SELECT s.v, t.id FROM s LEFT JOIN VALUES (1) AS t (id) ON false",
    }
    sinks = (f"CREATE SINK {q} USING parquet LOCATION '{q}'; INSERT INTO {q} {sql};" for q, sql in queries.items())
    script = Script(spark, tmp_path, f"CREATE STREAM s (v BOOLEAN) FROM FILES s; {' '.join(sinks)}")
    script.slice(s=[{"v": True}, {"v": False}, {"v": None}])
    script.run_to_end()
    assert script.rows("alone") == script.rows("nested") == [{"v": True}]
    assert script.rows("grouped") == [{"v": True, "n": 1}]
    assert script.rows("never") == [{"v": v, "id": None} for v in (None, False, True)]


def test_punctuations_come_from_the_column_that_is_named_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    rows = [{"id": 1, "_punctuation": "hello"}, {"id": 2}, {"closed": '{"id": 1}'}]
    (tmp_path / "b" / "0.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "pipeline.sql").write_text(
        """
        CREATE STREAM b (id BIGINT, _punctuation STRING, PUNCTUATED BY (id)) USING json LOCATION 'b'
        OPTIONS (punctuation 'closed');
        CREATE SINK out USING json LOCATION 'out';
        INSERT INTO out SELECT id, MAX(_punctuation) AS m FROM b GROUP BY id;
        """,
        encoding="utf-8",
    )
    query = caesura.Session(spark).file(tmp_path / "pipeline.sql").start(until_end=True)
    query.awaitTermination()
    assert query.lastProgress is not None
    assert query.lastProgress.quarantined_total == 0
    assert lines(tmp_path / "out") == [{"id": 1, "m": "hello"}, {"id": 2}]


def test_plain_csv_is_read_and_with_a_promise_it_has_one_field_more(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in (("plain", "1,a\n2,b\n3,\n"), ("closing", '1,a,\n,,"{""id"": 1}"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.csv").write_text(text, encoding="utf-8")
    (tmp_path / "pipeline.sql").write_text(
        """
        CREATE STREAM plain (id BIGINT, v STRING) USING csv LOCATION 'plain';
        CREATE STREAM closing (id BIGINT, v STRING, PUNCTUATED BY (id)) USING csv LOCATION 'closing'
        OPTIONS (escape '"');
        CREATE SINK out USING json LOCATION 'out';
        INSERT INTO out SELECT id, v FROM plain;
        INSERT INTO out SELECT id + 10 AS id, COUNT(*) AS n FROM closing GROUP BY id;
        """,
        encoding="utf-8",
    )
    query = caesura.Session(spark).file(tmp_path / "pipeline.sql").start(until_end=True)
    query.awaitTermination()
    assert [row["reason"] for row in query.quarantine().collect()] == []
    assert lines(tmp_path / "out") == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 3}, {"id": 11, "n": 1}]


def test_lines_of_text_are_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.txt").write_text("one\ntwo\n")
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (line STRING) USING text LOCATION 'a';
        CREATE SINK out USING json LOCATION 'out';
        INSERT INTO out SELECT upper(line) AS line FROM a;
        """,
    )
    script.run_to_end()
    assert lines(tmp_path / "out") == [{"line": "ONE"}, {"line": "TWO"}]


@pytest.fixture
def tokyo(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


def test_a_time_without_a_zone_is_in_that_of_the_session(tokyo: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    items: list[dict[str, object]] = [
        {"t": "2024-01-01 08:00:00", "v": 1},
        {"_punctuation": '{"t": {"lt": "2024-01-01 10:00:00"}}'},
        {"t": "2024-01-01 15:00:00", "v": 2},
    ]
    for number, item in enumerate(items):
        file = tmp_path / "in" / f"{number}.json"
        file.write_text(json.dumps(item), encoding="utf-8")
        os.utime(file, (number, number))
    reader = tokyo.readStream.schema("t TIMESTAMP, v INT, _punctuation STRING").option("maxFilesPerTrigger", 1)
    session = caesura.Session(tokyo)
    session.stream("s", reader.json(str(tmp_path / "in")), punctuated_by=["t"])
    query = session.sql("SELECT CAST(t AS STRING) AS t, COUNT(*) AS n FROM s GROUP BY t").start(
        str(tmp_path / "out"), "json", until_end=True
    )
    query.awaitTermination()
    assert query.quarantine().count() == 0
    assert lines(tmp_path / "out") == [{"t": "2024-01-01 08:00:00", "n": 1}, {"t": "2024-01-01 15:00:00", "n": 1}]


def test_an_overflow_is_an_error_whatever_the_session_says(tokyo: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.json").write_text('{"v": 2147483647}', encoding="utf-8")
    session = caesura.Session(tokyo)
    session.stream("s", tokyo.readStream.schema("v INT").json(str(tmp_path / "in")))
    query = session.sql("SELECT v + 1 AS w FROM s").start(format="memory", until_end=True)
    with pytest.raises(CaesuraError, match=Code.SLICE_FAILED) as error:
        query.awaitTermination()
    assert "ARITHMETIC_OVERFLOW" in error.value.diagnostics[0].because[0]


@pytest.mark.parametrize(
    ("sink", "checkpoint", "code", "because"),
    [
        ("USING json LOCATION 'taken'", None, Code.SINK, "is a file, not a folder"),
        ("USING nosuch", None, Code.SINK, "nosuch"),
        ("USING noop", "taken", Code.CHECKPOINT, "taken"),
    ],
    ids=["a file", "no format", "a file as checkpoint"],
)
def test_what_cannot_be_written_to_is_refused_before_anything_starts(
    spark: SparkSession, tmp_path: Path, sink: str, checkpoint: str | None, code: Code, because: str
) -> None:
    (tmp_path / "taken").write_text("something", encoding="utf-8")
    (tmp_path / "s").mkdir()
    (tmp_path / "pipeline.sql").write_text(
        f"CREATE STREAM s (id BIGINT) USING json LOCATION 's'; CREATE SINK out {sink};"
        "INSERT INTO out SELECT id FROM s;",
        encoding="utf-8",
    )
    place = None if checkpoint is None else str(tmp_path / checkpoint)
    with pytest.raises(CaesuraError, match=code) as error:
        caesura.Session(spark).file(tmp_path / "pipeline.sql").start(checkpoint=place, until_end=True)
    assert because in error.value.diagnostics[0].because[0]


def test_an_unknown_format_of_a_stream_is_refused(spark: SparkSession) -> None:
    prepared = caesura.Session(spark).sql(
        "CREATE STREAM s (id BIGINT) USING nosuch LOCATION 'd'; SELECT id FROM s;"
    )
    with pytest.raises(CaesuraError, match=Code.SOURCE):
        prepared.start(until_end=True)


def test_arguments_in_python_are_refused_as_their_sql_would_be(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.readStream.schema("Id BIGINT, t TIMESTAMP").json(str(tmp_path))
    session = caesura.Session(spark)
    session.stream("s", frame, punctuated_by="id", ordered_by="T", within="5 seconds")
    assert session.sql("SELECT id, COUNT(*) AS n FROM s GROUP BY id").check()[0].safe
    for number, (arguments, what) in enumerate(
        [
            ({"within": "5 seconds"}, "needs `ordered_by`"),
            ({"ordered_by": "t", "within": "five seconds"}, "five seconds"),
            ({"ordered_by": "Id", "within": "5 seconds"}, "dates or times"),
            ({"unique": ["nope"]}, "no column `nope`"),
        ]
    ):
        with pytest.raises(CaesuraError, match=what):
            session.stream(f"s{number}", frame, **arguments)  # type: ignore[arg-type]
    with pytest.raises(CaesuraError, match="is a streaming one"):
        session.table("t", frame)
    with pytest.raises(CaesuraError, match=Code.NO_FILE):
        session.file(tmp_path / "nothing.sql")
    with pytest.raises(CaesuraError, match="banana"):
        session.sql("SELECT id FROM s").start(interval="banana")
    with pytest.raises(CaesuraError, match="`eager_rows` is a number of rows, not -1"):
        session.sql("SELECT id FROM s").start(eager_rows=-1)
