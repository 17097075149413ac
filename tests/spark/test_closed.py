"""What rows are told apart by: conditions that the driver knows, whatever is NULL."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from caesura.operators.closed import Closed, as_data, covered, uncovered, uncovered_by_some
from caesura.operators.intervals import Run, Span, Stretch
from caesura.operators.rows import Rows, local
from caesura.types import BIGINT

VALUES = ("NULL", "1L", "5L", "9L")
ROWS = local(("k", "t"), ((f"CAST({k} AS BIGINT)", f"CAST({t} AS BIGINT)") for k in VALUES for t in VALUES))
ALL = [(k, t) for k in (None, 1, 5, 9) for t in (None, 1, 5, 9)]
UP_TO_5 = Span("BIGINT", None, "5L")
NO_END = Span("BIGINT", None, "CAST(NULL AS BIGINT)", high_open=True, sure=False)
NO_BEGINNING = Span("BIGINT", "CAST(NULL AS BIGINT)", "9L", sure=False)
MANY = tuple(Span("BIGINT", f"{i}L", f"{i}L") for i in (1, 3, 4, 7, 9))


def found(spark: SparkSession, rows: Rows | None) -> list[tuple[int | None, int | None]]:
    several = [] if rows is None else rows.only(("k", "t")).frame(spark).collect()
    return sorted(((row[0], row[1]) for row in several), key=str)


@pytest.mark.parametrize(
    ("closed", "k", "t"),
    [
        pytest.param({"k": (UP_TO_5,)}, {1, 5}, set(), id="one span"),
        pytest.param({"k": (UP_TO_5,), "t": (Run(BIGINT, 9, None),)}, {1, 5}, {9}, id="spans of two columns"),
        pytest.param({"k": (NO_END,)}, set(), set(), id="an end that is NULL"),
        pytest.param({"k": (NO_END, NO_BEGINNING), "t": (UP_TO_5,)}, set(), {1, 5}, id="a beginning that is NULL"),
        pytest.param({"k": (*MANY, NO_END)}, {1, 9}, set(), id="more than a handful"),
    ],
)
def test_each_row_is_covered_or_not(
    spark: SparkSession, closed: dict[str, tuple[Stretch, ...]], k: set[int], t: set[int]
) -> None:
    inside = sorted(((one, other) for one, other in ALL if one in k or other in t), key=str)
    outside = sorted((each for each in ALL if each not in inside), key=str)
    known = Closed(spans=closed)
    assert found(spark, covered(ROWS, known)) == inside
    assert found(spark, uncovered(ROWS, known)) == outside
    data = as_data(known, {"k": "BIGINT", "t": "BIGINT"})
    assert found(spark, covered(ROWS, data)) == inside
    assert found(spark, uncovered(ROWS, data)) == outside


def test_a_span_without_an_end_is_none_where_one_of_several_counts(spark: SparkSession) -> None:
    """Of two inputs that have closed times, one has said nothing: all rows wait for it."""
    said = [Closed(spans={"k": (UP_TO_5,)}), Closed(spans={"t": (NO_END,)})]
    assert found(spark, uncovered_by_some(ROWS, said)) == sorted(ALL, key=str)
