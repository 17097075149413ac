"""A plan that is kept gives the rows of the tables that it is given, and of no others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from caesura.operators.intervals import Run, Span, against_spans
from caesura.operators.plans import plans_of
from caesura.operators.rows import Rows, leaf, local, union
from caesura.spark.run import work_session
from caesura.types import Type

BIGINT = Type("BIGINT")


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return work_session(spark)


def values(rows: Rows | None, spark: SparkSession) -> list[int]:
    assert rows is not None
    return sorted(row[0] for row in rows.frame(spark).collect())


def numbers(spark: SparkSession, first: int, last: int) -> DataFrame:
    return spark.sql(f"SELECT id AS n FROM range({first}, {last + 1})")


def test_files_memory_and_constants_are_exchanged(session: SparkSession, tmp_path: Path) -> None:
    for first in (1, 100, 1000):
        path = str(tmp_path / str(first))
        numbers(session, first, first + 4).write.parquet(path)
        files, held = session.read.parquet(path), numbers(session, first + 2, first + 6).persist()
        constants = local(("n",), ((f"{first + 3}L",), (f"{first + 9}L",)))
        both = leaf(files).matching(leaf(held), ["n"])
        assert values(both, session) == [first + 2, first + 3, first + 4]
        assert values(both.matching(constants, ["n"]), session) == [first + 3]
        assert values(union((both, leaf(files))), session) == sorted(
            [*range(first, first + 5), first + 2, first + 3, first + 4]
        )
        held.unpersist()


def test_ends_of_spans_are_exchanged(session: SparkSession) -> None:
    rows = leaf(numbers(session, 0, 9).persist())
    for first in (2, 5):
        runs = (Run(BIGINT, first, first + 1), Run(BIGINT, 9, None))
        assert values(against_spans(rows, "n", runs), session) == [first, first + 1, 9]
        bound = (Span("BIGINT", None, f"{first}L", high_open=True),)
        assert values(against_spans(rows, "n", bound, negated=True), session) == list(range(first, 10))
        many = tuple(Run(BIGINT, each, each) for each in range(first, 10, 1))
        assert values(against_spans(rows, "n", many), session) == list(range(first, 10))


def test_a_value_that_is_missing_is_in_no_span(session: SparkSession) -> None:
    rows = leaf(session.sql("SELECT * FROM VALUES (1L), (NULL) AS t(n)"))
    everything = (Span("BIGINT", None, None),)
    assert values(against_spans(rows, "n", everything), session) == [1]
    (left,) = against_spans(rows, "n", everything, negated=True).frame(session).collect()
    assert left[0] is None


def test_tables_that_are_read_by_other_steps_are_not_mixed_up(session: SparkSession) -> None:
    for factor in (1, 2, 3):
        made = leaf(session.sql(f"SELECT id * {factor} AS n FROM range(1, 4)"))
        assert values(made.where("n > 2"), session) == [
            each for each in (factor, 2 * factor, 3 * factor) if each > 2
        ]


def test_threads_do_not_see_each_others_tables(session: SparkSession) -> None:
    def count(first: int) -> list[int]:
        return values(leaf(numbers(session, first, first + 3).persist()).where(f"n >= {first % 3}"), session)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(count, range(10, 26)))
    assert found == [list(range(first, first + 4)) for first in range(10, 26)]


def test_tables_without_rows_are_not_mixed_up(session: SparkSession) -> None:
    schema = "n BIGINT"
    for one, other in (([], []), ([], [7]), ([5], [])):
        frames = (session.createDataFrame([(n,) for n in each], schema) for each in (one, other))
        first, second = map(leaf, frames)
        assert values(union((first, second.project({"n": "n * 100"}))), session) == [
            *one,
            *(n * 100 for n in other),
        ]


def test_a_plan_of_which_nothing_is_left(session: SparkSession) -> None:
    for first in (1, 5):
        rows = leaf(numbers(session, first, first + 1).persist())
        assert values(union((rows, rows.where("false"))), session) == [first, first + 1]
        assert values(rows.where("n IS NULL AND n > 1"), session) == []


def test_a_table_that_is_not_given_is_an_error(session: SparkSession) -> None:
    statement, named = leaf(numbers(session, 1, 3).persist()).where("n > 1").statement()
    plans = plans_of(session)
    kept = plans._with_gaps(
        statement, {name: table.known for name, table in named.items() if not isinstance(table, str)}
    )
    with pytest.raises(PySparkException, match="not given"):
        plans._executed(kept.plan).collect()


def test_what_a_where_and_its_reader_take_is_computed_once(session: SparkSession) -> None:
    """A column of a projection is not: Spark puts what it is in the place of both."""
    number = leaf(numbers(session, 1, 9))
    text = "IF(n = 5, NULL, hex(n))"
    once, often = number.computing("text", text), number.extended({"text": text})
    numbers(session, 1, 9).createOrReplaceTempView("table_1")

    def calls(rows: Rows) -> int:
        statement, _ = rows.where("text <> '3' OR text IS NULL").project({"t": "text"}).statement()
        return str(session.sql(statement)._jdf.queryExecution().executedPlan()).count("hex(")

    assert calls(often) > calls(once) == 1
    found = [row[0] for row in once.where("text <> '3' OR text IS NULL").frame(session).select("text").collect()]
    assert sorted(found, key=str) == ["1", "2", "4", "6", "7", "8", "9", None]
