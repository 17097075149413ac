"""Rankings do on Spark what the model does: rows out, punctuations passed on, rows and numbers kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Column, OrderedBy, PunctuatedBy
from caesura.plan import Rank, SortKey
from caesura.spark.purge import PurgePolicy
from caesura.types import Type
from tests.plans import scan, stream
from tests.spark.against_model import LAZY, Trace, compare_all

A = stream("a", "k t v", PunctuatedBy(("k",)), PunctuatedBy(("k", "v")), OrderedBy("t"))
BY_TIME = SortKey("a.t", nulls_first=False)


def rank(function: str, partition: str, *order: SortKey, limit: int | None = None) -> Rank:
    keys = tuple(f"a.{name}" for name in partition.split())
    return Rank(scan(A), keys, order, function, Column("n", Type("INT")), limit)


ROOTS: dict[plan.Plan, tuple[str, ...]] = {
    rank("ROW_NUMBER", "k", SortKey("a.v", descending=True), limit=2): ("a.k",),
    rank("RANK", "k", SortKey("a.v")): ("a.k",),
    rank("DENSE_RANK", "k v", SortKey("a.t", descending=True, nulls_first=False), limit=1): ("a.k", "a.v"),
    rank("ROW_NUMBER", "k", BY_TIME, limit=2): ("a.k", "a.t"),
    rank("ROW_NUMBER", "", BY_TIME, SortKey("a.v")): ("a.t",),
    rank("RANK", "k", BY_TIME, limit=3): ("a.k", "a.t"),
    rank("DENSE_RANK", "", BY_TIME, limit=4): ("a.t",),
}
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
    {"a": [(4, 20, 1), (2, 10, 0), (3, 10, 1), (None, 11, 0), '{"t": {"ge": 12, "le": 14}}']},
    {"a": [(4, 10, 1), '{"k": [2, 3], "v": [1, 9]}', '{"k": 3}', '{"t": {"le": 10}}']},
    {},
    {"a": [(4, 21, 0), (None, 22, None), "{}"]},
]


@pytest.mark.parametrize(
    "policy",
    [pytest.param(PurgePolicy(), id="written anew", marks=pytest.mark.long), pytest.param(LAZY, id="appended")],
)
def test_a_ranking_on_spark_does_what_the_model_does(
    spark: SparkSession, tmp_path: Path, policy: PurgePolicy
) -> None:
    compare_all(spark, tmp_path, ROOTS, policy, TRACE, "- 0 1 2 3 4 5 7 8 9 10 12")
