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
from caesura.operators.ways import Places, Ways
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
        plans._executed(kept.plan, plans.ways.by(0), None).collect()


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


def steps(frame: DataFrame) -> tuple[int, bool]:
    """How many tasks give the rows, and whether rows are shuffled on their way to them."""
    rows = frame._jdf.queryExecution().optimizedPlan().rdd()
    return rows.getNumPartitions(), "Shuffled" in rows.toDebugString()


def test_what_is_little_is_in_one_place_and_has_the_same_rows(session: SparkSession, tmp_path: Path) -> None:
    for name, first in (("one", 1), ("other", 41)):
        numbers(session, first, first + 59).repartition(3).write.parquet(str(tmp_path / name))
    ways = plans_of(session).ways
    found: dict[bool, list[list[tuple[int, ...]]]] = {}
    for ways.gathering in (True, False):
        one, other = (leaf(session.read.parquet(str(tmp_path / name))) for name in ("one", "other"))
        both = union((one, other))
        assert both is not None
        renamed = other.renamed({"n": "m"})
        tables = (
            one.join(renamed, "n = m"),
            one.matching(other, ["n"]),
            one.alike(other, ["n"], negated=True),
            one.matching_on(renamed, "n + 50 < m"),
            one.join(renamed, "n + 50 < m").grouped(["n"], {"times": "count(*)"}),
            both.grouped(["n"], {"times": "count(*)"}),
            both.distinct(),
            both.summary({"total": "sum(n)"}),
            one.beyond(other),
            both.less(one),
            both.extended({"nth": "row_number() OVER (PARTITION BY n % 7 ORDER BY n)"}),
        )
        frames = [rows.frame(session) for rows in tables]
        found[ways.gathering] = [sorted(map(tuple, frame.collect())) for frame in frames]
        cross = frames.pop(4)  # of which Spark does not say where its rows are
        assert steps(cross)[1]
        assert {steps(frame) == (1, False) for frame in frames} == {ways.gathering}
    assert found[True] == found[False]
    assert [len(rows) for rows in found[True]] == [20, 20, 40, 49, 49, 100, 100, 1, 40, 60, 120]


def test_many_bytes_or_files_are_not_in_one_place(session: SparkSession, tmp_path: Path) -> None:
    session.conf.set("spark.sql.codegen.wholeStage", "true")  # tests go without
    few, many = str(tmp_path / "few"), str(tmp_path / "many")
    numbers(session, 1, 10).coalesce(1).write.parquet(few)
    numbers(session, 1, 300).repartition(300).write.parquet(many)
    frames = [leaf(session.read.parquet(path)).where("n > 0").frame(session) for path in (few, many)]
    assert [steps(frame)[0] == 1 for frame in frames] == [True, False]
    ways = Ways(session, Places())
    assert [ways.by(size).in_place for size in (0, 2**20, 2**21, 2**24, 2**25)] == [True, True, True, True, False]
    interpreted = [ways.by(size).spark.conf.get("spark.sql.codegen.wholeStage") for size in (2**20, 2**21)]
    assert interpreted == ["false", "true"]
    held = session.read.parquet(many).persist()
    assert steps(leaf(held, 300).where("n > 0").frame(session))[0] > 1
    held.unpersist()


def test_a_statement_is_read_by_the_settings_of_its_session_in_whatever_thread(session: SparkSession) -> None:
    session.conf.set("spark.sql.variable.substitute", "false")
    constants = local(("t",), (("'${env:HOME}'",),))

    def found() -> list[str]:
        asked = constants.where("t = '${env:HOME}'").extended({"u": "concat(t, '${env:HOME}')"})
        return [row["u"] for row in asked.frame(session).collect()]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(found).result() == ["${env:HOME}" * 2]


def test_the_session_of_a_thread_stays(session: SparkSession) -> None:
    leaf(numbers(session, 1, 3)).where("n > 1").frame(session)
    active = SparkSession.getActiveSession()
    assert active is not None
    assert active.conf.get("spark.sql.autoBroadcastJoinThreshold") != "-1"
