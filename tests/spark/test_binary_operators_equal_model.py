"""The operators of two inputs, and the sort, do on Spark what the model does.

Many small traces, each with keys of its own, run side by side as one: a slice takes Spark as long with one of them
as with all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import PunctuatedBy
from caesura.plan import JoinKind, SortKey
from caesura.spark.purge import PurgePolicy
from tests.plans import group, join, project, scan, stream
from tests.spark.against_model import LAZY, Trace, compare_all

A = stream("a", "id x", PunctuatedBy(("id",)), PunctuatedBy(("id", "x")))
B = stream("b", "id y", PunctuatedBy(("id",)), PunctuatedBy(("id", "y")))

TRACES: Mapping[str, Trace] = {
    "a constant closes a key on one side, then on the other": [
        {"a": [(10, 1), (10, 1), (11, 1)], "b": [(10, 5)]},
        {"a": ['{"id": 10}'], "b": ['{"id": 11}']},
        {"b": [(10, 6), '{"id": 10}'], "a": [(11, 2)]},
    ],
    "a list closes keys, some of which never came": [
        {"a": [(20, 1), (21, 1)], "b": [(21, 5), (22, 5)]},
        {"a": ['{"id": [21, 22, 23]}'], "b": ['{"id": [20, 21, 23]}']},
    ],
    "ranges, open and closed": [
        {"a": [(30, 1), (31, 1), (33, 1)], "b": [(31, 5), (32, 5)]},
        {"a": ['{"id": {"gt": 30, "le": 32}}'], "b": ['{"id": {"ge": 30, "lt": 33}}']},
        {"a": ['{"id": {"ge": 30, "le": 39}}'], "b": [(33, 5), '{"id": {"ge": 33, "lt": 40}}']},
    ],
    "several attributes at once say nothing of a whole key": [
        {"a": [(40, 1), (40, 2), (41, 1)], "b": [(41, 1)]},
        {"a": ['{"id": 41, "x": 1}'], "b": ['{"id": [40, 41], "y": 1}']},
        {"b": [(40, 2)]},
    ],
    "a constant here, a range there": [
        {"a": [(50, 1), (51, 1)], "b": [(50, 1), '{"id": 51}']},
        {"a": [(50, 2), '{"id": {"ge": 50, "lt": 60}}'], "b": ['{"id": 50, "y": {"le": 9}}']},
        {"b": [(50, 10), '{"id": 50}']},
    ],
    "closed before the row comes": [
        {"b": ['{"id": [60, 62]}'], "a": ['{"id": 61}']},
        {"a": [(60, 1)], "b": [(61, 1)]},
        {"a": [(62, 1), '{"id": 62}']},
    ],
    "a row and its punctuation in one slice": [
        {"a": [(70, 1), '{"id": 70}'], "b": [(70, 1), (71, 1), '{"id": [70, 71]}']},
        {"a": [(71, 1), (71, 1)]},
    ],
    "nothing at all is NULL": [
        {"a": [(None, 1), (80, None)], "b": [(None, 1), (80, None)]},
        {"a": ['{"id": {"ge": 80, "le": 89}}'], "b": [(80, 1), '{"id": {"ge": 80, "le": 89}}']},
    ],
    "from the first key on": [
        {"a": [(1, 1), (4, 2), (4, 1), (9, 1), '{"id": {"ge": 2, "le": 3}}'], "b": [(4, 1)]},
        {"a": ['{"id": {"lt": 2}}'], "b": ['{"id": {"le": 4}}']},
        {"a": ['{"id": [4, 5]}'], "b": [(9, 1), '{"id": {"gt": 4, "lt": 10}}']},
    ],
}
OTHER_COLUMNS: Mapping[str, Trace] = {
    "other columns than the key": [{}, {"a": ['{"x": {"ge": 2}}']}, {"b": ['{"y": 5}']}],
}
END: Trace = [{"a": ["{}"], "b": [(90, 1)]}, {"b": ["{}"]}]
VALUES = "- 1 2 3 4 5 9 10 11 20 21 22 30 31 32 33 40 41 50 51 60 61 62 70 71 80 90"


def side_by_side(traces: Mapping[str, Trace]) -> Trace:
    slices = zip_longest(*traces.values(), fillvalue={})
    return [
        {name: [item for each in slice for item in each.get(name, ())] for name in ("a", "b")} for slice in slices
    ]


JOINS: Mapping[JoinKind, tuple[str, str]] = {
    "left": ("a.id", "b.y"),
    "full": ("a.id", "b.id"),
    "semi": ("a.id", "a.x"),
    "anti": ("a.id", "a.x"),
}
"""And the columns on which punctuations are compared. The model passes them on under both names that a key has."""


def test_joins_whose_lonely_rows_matter(spark: SparkSession, tmp_path: Path) -> None:
    joined = join(scan(A), scan(B), on="a.id = b.id")
    roots: dict[plan.Plan, tuple[str, ...]] = {replace(joined, kind=k): names for k, names in JOINS.items()}
    trace = [*side_by_side({**TRACES, **OTHER_COLUMNS}), *END]
    compare_all(spark, tmp_path, roots, LAZY, trace, VALUES)


def test_set_operations_and_a_sort(spark: SparkSession, tmp_path: Path) -> None:
    one, other = project(scan(A), k="a.id", v="a.x"), project(scan(B), k="b.id", v="b.y")
    merged, columns = plan.Merge((one, other)), ("k", "v")
    roots: dict[plan.Plan, tuple[str, ...]] = {
        plan.Distinct(merged): columns,
        plan.Compare((one, other), "intersect"): columns,
        plan.Compare((one, other), "except"): columns,
        plan.Sort(one, (SortKey("k"), SortKey("v", descending=True))): columns,
        replace(group(one, "k"), emit="changes"): ("k",),
    }
    compare_all(spark, tmp_path, roots, PurgePolicy(), [*side_by_side(TRACES), {"a": ["{}"], "b": ["{}"]}], VALUES)
