"""CREATE STREAM, TABLE and SINK as values of the catalog."""

from __future__ import annotations

import pytest

from caesura.catalog import (
    Catalog,
    Check,
    ClosedBy,
    ClusteredBy,
    Column,
    CompleteBy,
    Interval,
    OrderedBy,
    Origin,
    PunctuatedBy,
    Sink,
    Stream,
    Table,
    Traffic,
    Unique,
)
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql.bind import bind
from caesura.types import BIGINT, Type


def declared(text: str) -> Catalog:
    return bind(Source("test.sql", text)).catalog


def stream(text: str) -> Stream:
    relation = declared(text)["s"]
    assert isinstance(relation, Stream)
    return relation


def refused(text: str) -> tuple[Code, str]:
    """Code and marked text of the only diagnostic."""
    with pytest.raises(CaesuraError) as error:
        declared(text)
    (diagnostic,) = error.value.diagnostics
    return Code(diagnostic.code), diagnostic.labels[0].span.text


def test_a_stream_has_columns_constraints_and_an_origin() -> None:
    found = stream(
        """CREATE TABLE sensor (s INT, place STRING) USING csv LOCATION 'sensor';
        CREATE STREAM s (
          id BIGINT, S INT, hour INT, at TIMESTAMP, open BOOLEAN,
          PUNCTUATED BY (hour, s) LIFESPAN INTERVAL 4 HOURS,
          UNIQUE (Id),
          ORDERED BY (at WITHIN INTERVAL '5' SECONDS),
          CLUSTERED BY (hour),
          CLOSED BY (hour) WHEN NOT open,
          COMPLETE BY (hour) PER (s) IN SENSOR,
          CHECK (hour BETWEEN 0 AND 23)
        ) USING json LOCATION 'data/s' OPTIONS (maxFilesPerTrigger 1, punctuation 'marks')"""
    )
    assert [(c.name, c.type.sql) for c in found.columns] == [
        ("id", "BIGINT"),
        ("S", "INT"),
        ("hour", "INT"),
        ("at", "TIMESTAMP"),
        ("open", "BOOLEAN"),
    ]
    punctuated, unique, ordered, clustered, closed, complete, check = found.constraints
    assert punctuated == PunctuatedBy(("hour", "S"), Interval("INTERVAL 4 HOURS"))
    assert unique == Unique(("id",))
    assert ordered == OrderedBy("at", Interval("INTERVAL 5 SECONDS"))
    assert clustered == ClusteredBy(("hour",))
    assert isinstance(closed, ClosedBy)
    assert (closed.columns, closed.condition.sql) == (("hour",), "NOT `open`")
    assert complete == CompleteBy(("hour",), ("S",), "sensor")
    assert isinstance(check, Check)
    assert check.condition.sql == "`hour` BETWEEN 0 AND 23"
    assert found.origin == Origin("json", "data/s", (("maxFilesPerTrigger", "1"),))
    assert found.punctuation_column == "marks"


@pytest.mark.parametrize(
    ("clauses", "meant"),
    [
        ("USING json", "quarantine"),
        ("USING json ON VIOLATION QUARANTINE", "quarantine"),
        ("USING json LOCATION 'x' ON VIOLATION FAIL", "fail"),
        ("on violation fail USING json OPTIONS (a 1)", "fail"),
    ],
)
def test_a_stream_says_what_becomes_of_a_violation(clauses: str, meant: str) -> None:
    assert stream(f"CREATE STREAM s (id INT, UNIQUE (id)) {clauses}").on_violation == meant


def test_constraints_know_their_place() -> None:
    (unique,) = stream("CREATE STREAM s (id INT, UNIQUE (id)) USING json").constraints
    assert unique.span is not None
    assert unique.span.text == "UNIQUE (id)"


def test_constraints_of_one_column_may_follow_it() -> None:
    found = stream("CREATE STREAM s (id INT NOT NULL UNIQUE COMMENT 'the id' CHECK (id > 0)) USING json")
    present, unique, positive = found.constraints
    assert isinstance(present, Check)
    assert present.condition.sql == "NOT `id` IS NULL"
    assert unique == Unique(("id",))
    assert isinstance(positive, Check)
    assert positive.condition.sql == "`id` > 0"


def test_a_table_and_a_sink() -> None:
    text = """CREATE SINK out USING parquet;
    CREATE TABLE t (id BIGINT) USING csv;
    INSERT INTO out SELECT id FROM t"""
    pipeline = bind(Source("test.sql", text))
    assert pipeline.catalog["T"] == Table("t", (Column("id", BIGINT),), Origin("csv"))
    assert pipeline.queries[0].sink == Sink("out", Origin("parquet"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("INTEGER", "INT"),
        ("LONG", "BIGINT"),
        ("REAL", "FLOAT"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("NUMERIC(5)", "DECIMAL(5, 0)"),
        ("DECIMAL(12,2)", "DECIMAL(12, 2)"),
        ("VARCHAR(3)", "VARCHAR(3)"),
        ("TIMESTAMP_LTZ", "TIMESTAMP"),
        ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ"),
        ("ARRAY<INT>", "ARRAY<INT>"),
        ("map<string, int>", "MAP<STRING, INT>"),
        ("STRUCT<a: INT, B: STRING>", "STRUCT<`a`: INT, `B`: STRING>"),
    ],
)
def test_types_have_one_spelling(written: str, meant: str) -> None:
    assert stream(f"CREATE STREAM s (x {written}) USING json").columns[0].type == Type(meant)


@pytest.mark.parametrize(
    "written", ["UUID", "JSON", "NUMBER_OF", "DECIMAL(39)", "DECIMAL(2, 3)", "ARRAY", "INT(5)"]
)
def test_a_type_that_spark_does_not_have(written: str) -> None:
    code, _ = refused(f"CREATE STREAM s (x {written}) USING json")
    assert code == Code.UNKNOWN_TYPE


REFUSED = {
    "duplicate column": ("CREATE STREAM s (id INT, ID INT) USING json", Code.DUPLICATE_COLUMN, "ID INT"),
    "duplicate name": (
        "CREATE STREAM s (id INT) USING json; CREATE SINK S USING json",
        Code.DUPLICATE_NAME,
        "S",
    ),
    "name of a view": (
        "CREATE TABLE s (id INT) USING json; CREATE VIEW S AS SELECT id FROM s",
        Code.DUPLICATE_NAME,
        "S",
    ),
    "constraint on unknown column": (
        "CREATE STREAM s (id INT, PUNCTUATED BY (idd)) USING json",
        Code.CONSTRAINT_COLUMN,
        "idd",
    ),
    "column named twice": ("CREATE STREAM s (id INT, UNIQUE (id, ID)) USING json", Code.CONSTRAINT_COLUMN, "ID"),
    "condition on unknown column": (
        "CREATE STREAM s (id INT, CHECK (idd > 1)) USING json",
        Code.UNKNOWN_COLUMN,
        "idd",
    ),
    "no order": (
        "CREATE STREAM s (id ARRAY<INT>, ORDERED BY (id)) USING json",
        Code.NO_ORDER,
        "ORDERED BY (id)",
    ),
    "promise about an array": (
        "CREATE STREAM s (id INT, tags ARRAY<INT>, UNIQUE (id, tags)) USING json",
        Code.NOT_CLOSABLE,
        "tags",
    ),
    "violation of a sink": (
        "CREATE SINK s USING json ON VIOLATION FAIL",
        Code.MISPLACED_CLAUSE,
        "ON VIOLATION FAIL",
    ),
    "violation of a table": (
        "CREATE TABLE s (id INT) ON VIOLATION FAIL USING json",
        Code.MISPLACED_CLAUSE,
        "ON VIOLATION FAIL",
    ),
    "violation of a derived stream": (
        "CREATE STREAM s (id INT) USING json; CREATE STREAM d ON VIOLATION FAIL AS SELECT id FROM s",
        Code.MISPLACED_CLAUSE,
        "ON VIOLATION FAIL",
    ),
    "slack of a number": (
        "CREATE STREAM s (id INT, ORDERED BY (id WITHIN INTERVAL 1 DAY)) USING json",
        Code.SLACK_NOT_TEMPORAL,
        "ORDERED BY (id WITHIN INTERVAL 1 DAY)",
    ),
    "check not boolean": (
        "CREATE STREAM s (id INT, CHECK (id + 1)) USING json",
        Code.CONDITION_NOT_BOOLEAN,
        "id + 1",
    ),
    "when not boolean": (
        "CREATE STREAM s (id INT, CLOSED BY (id) WHEN id) USING json",
        Code.CONDITION_NOT_BOOLEAN,
        "id",
    ),
    "check with aggregate": (
        "CREATE STREAM s (id INT, CHECK (MAX(id) > 1)) USING json",
        Code.MISPLACED_AGGREGATE,
        "MAX(id)",
    ),
    "check that changes": (
        "CREATE STREAM s (at TIMESTAMP, CHECK (at < now())) USING json",
        Code.NOT_DETERMINISTIC,
        "now()",
    ),
    "complete by unknown table": (
        "CREATE STREAM s (h INT, p INT, COMPLETE BY (h) PER (p) IN t) USING json",
        Code.COMPLETE_TABLE,
        "t",
    ),
    "complete by stream": (
        "CREATE STREAM t (p INT) USING json; "
        "CREATE STREAM s (h INT, p INT, COMPLETE BY (h) PER (p) IN t) USING json",
        Code.COMPLETE_TABLE,
        "t",
    ),
    "complete by table without the part": (
        "CREATE TABLE t (q INT) USING json; "
        "CREATE STREAM s (h INT, p INT, COMPLETE BY (h) PER (p) IN t) USING json",
        Code.COMPLETE_TABLE,
        "t",
    ),
    "punctuation column": (
        "CREATE STREAM s (id INT, _Punctuation STRING) USING json",
        Code.PUNCTUATION_COLUMN,
        "_Punctuation STRING",
    ),
    "punctuation column by option": (
        "CREATE STREAM s (id INT, marks STRING) USING json OPTIONS (PUNCTUATION 'marks')",
        Code.PUNCTUATION_COLUMN,
        "marks STRING",
    ),
    "no format": ("CREATE STREAM s (id INT) LOCATION 'x'", Code.MISSING_CLAUSE, "s"),
    "no columns": ("CREATE STREAM s USING json", Code.MISSING_CLAUSE, "s"),
    "no query": ("CREATE VIEW v", Code.MISSING_CLAUSE, "v"),
    "constraint on a table": (
        "CREATE TABLE s (id INT, UNIQUE (id)) USING json",
        Code.MISPLACED_CLAUSE,
        "UNIQUE (id)",
    ),
    "punctuations of a table": (
        "CREATE TABLE s (id INT) USING json OPTIONS (punctuation 'p')",
        Code.MISPLACED_CLAUSE,
        "punctuation 'p'",
    ),
    "release of a table": (
        "CREATE TABLE s (id INT) USING json OPTIONS (release 'INTERVAL 1 DAY')",
        Code.MISPLACED_CLAUSE,
        "release 'INTERVAL 1 DAY'",
    ),
    "part of an hour": (
        "CREATE STREAM s (id INT, UNIQUE (id) LIFESPAN INTERVAL 1.5 HOURS) USING json",
        Code.BAD_INTERVAL,
        "INTERVAL 1.5 HOURS",
    ),
    "longer than can be counted": (
        "CREATE STREAM s (id INT, UNIQUE (id) LIFESPAN INTERVAL 99999999999999 DAYS) USING json",
        Code.BAD_INTERVAL,
        "INTERVAL 99999999999999 DAYS",
    ),
    "month": (
        "CREATE STREAM s (at DATE, ORDERED BY (at WITHIN INTERVAL 1 MONTH)) USING json",
        Code.BAD_INTERVAL,
        "INTERVAL 1 MONTH",
    ),
    "negative interval": (
        "CREATE STREAM s (id INT, UNIQUE (id) LIFESPAN INTERVAL -1 DAY) USING json",
        Code.BAD_INTERVAL,
        "INTERVAL -1 DAY",
    ),
    "interval of two units": (
        "CREATE STREAM s (id INT, UNIQUE (id) LIFESPAN INTERVAL 1 DAY 2 HOURS) USING json",
        Code.BAD_INTERVAL,
        "INTERVAL 1 DAY 2 HOURS",
    ),
    "option twice": (
        "CREATE STREAM s (id INT) USING json OPTIONS (a 1, A 2)",
        Code.DUPLICATE_OPTION,
        "A 2",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    text, code, marked = REFUSED[case]
    assert refused(text) == (code, marked)


def test_a_declaration_may_come_after_its_use() -> None:
    text = """SELECT id FROM s;
    CREATE STREAM s (id INT, p INT, COMPLETE BY (id) PER (p) IN t) USING json;
    CREATE TABLE t (p INT) USING csv"""
    assert [relation.name for relation in declared(text).relations] == ["t", "s"]


def test_traffic_is_for_caesura_and_does_not_reach_spark() -> None:
    text = "CREATE STREAM s (id BIGINT, Seller INT) USING json LOCATION 's' OPTIONS ({})"
    found = stream(text.format("rate 2.5, multiLine true, distinct 'id 5000, seller 100', closes 'seller 2'"))
    assert found.traffic == Traffic(2.5, (("id", 5000.0), ("Seller", 100.0)), (("Seller", 2.0),))
    assert found.origin == Origin("json", "s", (("multiLine", "true"),))
    assert found == stream(text.format("multiLine true"))


def test_several_locations_share_the_rate() -> None:
    parts = declared("CREATE STREAM s (id INT) USING json LOCATION ('north', 'south') OPTIONS (rate 10)").values()
    assert [each.traffic.rate for each in parts if isinstance(each, Stream)] == [5, 5]
