"""Functions over frames do on Spark what the model does: rows out, punctuations passed on, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Column, OrderedBy, PunctuatedBy
from caesura.plan import Frame, Framed, SortKey
from caesura.spark.purge import PurgePolicy
from caesura.types import BIGINT, Type
from tests.plans import scan, stream
from tests.spark.against_model import LAZY, Trace, compare_all

A = stream("a", "k t v", PunctuatedBy(("k",)), PunctuatedBy(("k", "v")), OrderedBy("t"))
BY_TIME = SortKey("a.t", nulls_first=False)


def over(
    name: str, function: str, unit: Literal["rows", "range"], preceding: int | None = None, *more: str
) -> Framed:
    """A function of v; `more`: other arguments, or that NULLs are passed over."""
    type = Type("DOUBLE") if function == "AVG" else BIGINT
    arguments = () if function == "COUNT" else ("a.v", *(each for each in more if each != "ignore nulls"))
    return Framed(Column(name, type), function, arguments, unit, preceding, "ignore nulls" in more)


NEAR = (
    over("near", "COUNT", "range", 3),
    over("total", "SUM", "range", 3),
    over("mean", "AVG", "range", 2),
    over("first", "FIRST_VALUE", "range", 3),
    over("same", "COUNT", "range", 0),
    over("own", "LAST_VALUE", "range", 0),
)
LAST_ROWS = (
    over("pair", "SUM", "rows", 1),
    over("least", "MIN", "rows", 2),
    over("lag", "LAG", "rows", 2, "a.t"),
    over("before", "LAG", "rows", 1),
    over("known", "LAST_VALUE", "rows", 2, "ignore nulls"),
)
WHOLE = (
    over("n", "COUNT", "range"),
    over("total", "SUM", "range"),
    over("mean", "AVG", "rows"),
    over("least", "MIN", "range"),
    over("most", "MAX", "rows"),
    over("first", "FIRST_VALUE", "range"),
    over("last", "LAST_VALUE", "range", None, "ignore nulls"),
)


def frame(partition: str, functions: tuple[Framed, ...], *order: SortKey) -> Frame:
    return Frame(scan(A), tuple(f"a.{name}" for name in partition.split()), order, functions)


ROOTS: dict[plan.Plan, tuple[str, ...]] = {
    frame("k", NEAR, BY_TIME): ("a.k", "a.t"),
    frame("k", LAST_ROWS, BY_TIME): ("a.k", "a.t"),
    frame("k", WHOLE, BY_TIME, SortKey("a.v", descending=True)): ("a.k", "a.t"),
    frame("", (*WHOLE[:2], *LAST_ROWS[1:3], NEAR[3]), BY_TIME): ("a.t",),
    frame("k v", (WHOLE[0], NEAR[0], LAST_ROWS[0]), SortKey("a.t")): ("a.k", "a.v"),
    frame("k", (*WHOLE, *LAST_ROWS), SortKey("a.v", descending=True)): ("a.k",),
}
"""By time, which lets rows go, and in orders in which only the end of a partition does."""
TRACE: Trace = [
    {  # equal rows, and rows that the order leaves equal; NULL in every column
        "a": [
            *[(1, 5, 1), (1, 5, 1), (1, 4, 2), (1, 6, 3), (1, None, 9)],
            *[(2, 1, 7), (2, 1, 8), (2, 2, None), (None, 3, 1), (None, 3, 1), (None, None, None)],
            *['{"v": 4}', '{"k": 7}'],
        ]
    },
    {"a": [(1, 4, 0), (2, 2, 9), (3, 8, 1), (None, 4, 2), '{"t": {"le": 3}}', '{"k": [5, 6]}']},
    {"a": [(1, 9, 7), (2, 4, 1), (3, 7, 1), (3, 7, 2), '{"k": 1}', '{"k": 2, "v": 1}', '{"t": {"lt": 8}}']},
    {
        "a": [
            (2, 8, 6),
            (2, 8, 5),
            (3, 8, 9),
            (3, 9, 9),
            '{"k": {"ge": 8}}',
            '{"k": 2, "t": {"le": 8}}',
            '{"t": 9}',
        ]
    },
    {"a": [(4, 20, 1), (2, 9, 0), (3, 10, 1), (None, 11, 0), '{"t": {"ge": 12, "le": 14}}']},
    {"a": [(4, 10, 1), '{"k": [2, 3], "v": [1, 9]}', '{"k": 3}', '{"t": {"le": 10}}']},
    {},
    {"a": [(4, 21, 0), (4, 21, None), '{"t": {"lt": 21}}']},
    {"a": [(4, 22, 2), (None, 22, None), '{"t": {"le": 22}}']},
    {"a": [(4, 24, 0), (None, 25, 5), "{}"]},
]


@pytest.mark.parametrize(
    "policy",
    [pytest.param(PurgePolicy(), id="written anew", marks=pytest.mark.long), pytest.param(LAZY, id="appended")],
)
def test_frames_on_spark_are_those_of_the_model(spark: SparkSession, tmp_path: Path, policy: PurgePolicy) -> None:
    compare_all(spark, tmp_path, ROOTS, policy, TRACE, "- 0 1 2 3 4 5 7 8 9 10 12 21 22")
