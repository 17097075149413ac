"""The operators on Spark do what the model does, slice by slice: rows out, punctuations passed on, rows kept."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Column, PunctuatedBy
from caesura.plan import Aggregate
from caesura.spark.purge import PurgePolicy
from caesura.types import BIGINT, Type
from tests.plans import join, project, scan, stream, where
from tests.spark.against_model import LAZY, Trace, compare, compare_all

A = stream("a", "id x", PunctuatedBy(("id",)), PunctuatedBy(("x",)))
B = stream("b", "auction bidder price", PunctuatedBy(("auction",)), PunctuatedBy(("auction", "bidder")))


def grouped(below: plan.Plan, *keys: str, of: str) -> plan.Group:
    functions = {
        "n": "COUNT",
        "total": "SUM",
        "least": "MIN",
        "most": "MAX",
        "mean": "AVG",
        "given": "COUNT",
    }
    aggregates = tuple(
        Aggregate(
            Column(name, Type("DOUBLE") if name == "mean" else BIGINT), function, () if name == "n" else (of,)
        )
        for name, function in functions.items()
    )
    return plan.Group(below, keys, aggregates)


def test_a_join_and_a_group_over_it(spark: SparkSession, tmp_path: Path) -> None:
    root = grouped(join(scan(A), scan(B), on="a.id = b.auction"), "a.id", "b.bidder", of="b.price")
    trace: Trace = [
        {
            "a": [(1, 1), (2, 1), (3, 2), (None, 1), (1, 9), (1, None)],
            "b": [(1, 7, 10), (4, 7, 11), (None, 7, 1), (1, None, None), '{"auction": 5}', '{"auction": []}'],
        },
        {  # closed by its partner before it comes (5); rows and their punctuation in one slice (1)
            "a": [(4, 2), (5, 3), '{"id": 1}'],
            "b": [
                *[(2, 8, 12), (1, 8, 13)],
                *['{"auction": [1, 3]}', '{"auction": {"ge": 10, "lt": 20}}', '{"auction": 2, "bidder": [8, 9]}'],
            ],
        },
        {"a": [(12, 1), (2, 5), (2, 5), '{"id": {"le": 4}}', '{"x": 1}'], "b": [(4, 9, 14), (2, 1, 15)]},
        {"a": [(30, 2)], "b": [(30, 1, 1), '{"auction": {"lt": 3}}', '{"bidder": 7}', '{"price": {"gt": 0}}']},
        {"a": ["{}"], "b": [(40, 1, None)]},
        {"b": ["{}"]},
    ]
    compare(spark, tmp_path, root, LAZY, trace, "- 1 2 3 4 5 7 8 9 12 30")


def test_a_group_over_a_projection_over_a_selection(spark: SparkSession, tmp_path: Path) -> None:
    kept = project(where(scan(B), "b.price > 10"), k="b.auction", who="b.bidder", price="b.price")
    root = grouped(kept, "k", "who", of="price")
    trace: Trace = [
        {
            "b": [
                (1, 1, 11),
                (1, 1, 5),
                (1, 1, 13),
                (2, 1, 12),
                (None, 1, 20),
                (None, 1, 22),
                (3, None, 30),
                (4, 4, None),
            ]
        },
        {
            "b": [
                (1, 1, 11),
                (2, 2, 40),
                '{"auction": 1}',
                '{"auction": 2, "bidder": 1}',
                '{"price": 12}',
                '{"bidder": 9}',
            ]
        },
        {"b": [(2, 2, 50), (5, 5, 60), '{"auction": {"gt": 2, "lt": 5}}', '{"auction": 2, "bidder": {"le": 1}}']},
        {
            "b": [
                (2, 2, 60),
                (6, 6, 11),
                '{"auction": [5, 2]}',
                '{"auction": [6, 7], "bidder": [6, 7], "price": 1}',
            ]
        },
        {"b": [(None, None, 17), (6, 6, 12), '{"auction": {"ge": 0}}']},
        {"b": [(None, 3, 18), "{}"]},
    ]
    compare(spark, tmp_path, root, LAZY, trace, "- 1 2 3 4 5 6 7 9")


def test_a_join_on_two_columns_that_must_equal_one(spark: SparkSession, tmp_path: Path) -> None:
    both = join(scan(A), scan(B), on="a.id = b.auction, a.id = b.bidder")
    root = grouped(both, "a.id", of="b.price")
    trace: Trace = [
        {
            "a": [(1, 1), (2, 2), (3, 3)],
            "b": [(1, 1, 5), (2, 2, 7), (1, 2, 6), '{"auction": 1, "bidder": [1, 2]}'],
        },
        {"b": [(2, 2, 8), '{"auction": 2}', '{"auction": 3, "bidder": 4}']},
        {"a": ['{"id": {"ge": 2}}'], "b": [(3, 3, 9), '{"bidder": 3}', '{"auction": {"lt": 9}, "bidder": 5}']},
        {"a": ["{}"], "b": ["{}"]},
    ]
    compare(spark, tmp_path, root, PurgePolicy(), trace, "- 1 2 3 4 5")


def test_a_join_of_three_streams_purges_along_a_chain(spark: SparkSession, tmp_path: Path) -> None:
    bids = stream("b", "auction bidder", PunctuatedBy(("auction",)), PunctuatedBy(("bidder",)))
    person = stream("p", "id city", PunctuatedBy(("id",)))
    three = join(scan(A), scan(bids), scan(person), on="a.id = b.auction, b.bidder = p.id")
    trace: Trace = [
        {"a": [(1, 1), (2, 2)], "b": [(1, 7), (1, 8), (3, 7), '{"auction": 2}'], "p": [(7, 70), (9, 90)]},
        {"a": [(3, 3), '{"id": [1, 2]}'], "b": [(4, 9), '{"auction": 1}'], "p": ['{"id": 7}']},
        {"a": ['{"id": 3}'], "b": ['{"auction": 3}', '{"bidder": 7}'], "p": [(8, 80), (8, 81)]},
        {"a": [(4, 4)], "b": ['{"bidder": {"ge": 8}}'], "p": ['{"id": 8}']},
        {"a": ["{}"], "b": ["{}"], "p": ["{}"]},
    ]
    compare_all(spark, tmp_path, {three: ("a.id", "p.id")}, PurgePolicy(), trace, "- 1 2 3 4 7 8 9")
