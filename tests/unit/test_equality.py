from __future__ import annotations

import pytest

from caesura.catalog import Column, Stream
from caesura.plan import Plan
from caesura.safety.equality import equality_classes, inexact
from caesura.types import Type
from tests.plans import group, join, project, scan, stream, where

R, S, T = (stream(name, "a b c") for name in "rst")


def classes(plan: Plan) -> set[str]:
    """`r.a = s.a`, and `r.a = 5` for a constant."""
    found = equality_classes(plan)
    return {" = ".join((*c.columns, *([c.constant.sql] if c.constant else []))) for c in found}


def test_equalities_are_closed_transitively() -> None:
    assert classes(join(scan(R), scan(S), scan(T), on="r.a = s.a, s.a = t.a")) == {"r.a = s.a = t.a"}


def test_different_columns_stay_in_different_classes() -> None:
    assert classes(join(scan(R), scan(S), on="r.a = s.a, r.b = s.b")) == {"r.a = s.a", "r.b = s.b"}


def test_a_filter_below_puts_its_constant_into_the_class() -> None:
    assert classes(join(where(scan(R), "r.a = 5"), scan(S), on="r.a = s.a")) == {"r.a = s.a = 5"}


@pytest.mark.parametrize("predicate", ["r.a = 5", "5 = r.a", "(r.b > 1) AND (r.a = 5)", "r.a = -5", "r.a = 5.0"])
def test_a_column_is_fixed_by_a_conjunct_that_leaves_it_one_value(predicate: str) -> None:
    (found,) = equality_classes(where(scan(R), predicate))
    assert found.columns == ("r.a",)
    assert found.constant is not None


@pytest.mark.parametrize(
    "predicate",
    ["r.a = NULL", "r.a > 5", "r.a = 5 OR r.b = 6", "NOT r.a = 5", "r.a + 1 = 5", "r.a = 5e0", "r.a = '5'"],
)
def test_nothing_else_fixes_a_column(predicate: str) -> None:
    assert classes(where(scan(R), predicate)) == set()


def test_equal_columns_of_one_input_are_one_class() -> None:
    assert classes(join(where(scan(R), "r.a = r.b"), scan(S), on="r.a = s.a")) == {"r.a = r.b = s.a"}


def test_the_residual_of_a_join_says_nothing() -> None:
    assert classes(join(scan(R), scan(S), residual="r.a = s.a OR r.b < s.b")) == set()


def test_classes_follow_a_projection() -> None:
    joined = join(scan(R), scan(S), scan(T), on="r.a = s.a, s.a = t.a")
    assert classes(project(joined, x="r.a", y="t.a")) == {"x = y"}
    assert classes(project(scan(R), x="r.a", y="r.a")) == {"x = y"}
    assert classes(project(scan(R), x="r.a", y="r.b")) == set()


def test_of_a_group_only_the_keys_remain() -> None:
    joined = join(scan(R), scan(S), scan(T), on="r.a = s.a, s.a = t.a")
    assert classes(group(joined, "r.a", "t.a")) == {"r.a = t.a"}


@pytest.mark.parametrize(
    ("one", "other", "pins"),
    [
        ("BIGINT", "INT", True),
        ("DECIMAL(10, 2)", "DECIMAL(12, 2)", True),
        ("DECIMAL(10, 0)", "BIGINT", True),
        ("STRING", "VARCHAR(9)", True),
        ("FLOAT", "DOUBLE", True),
        ("BIGINT", "DOUBLE", False),
        ("DECIMAL(10, 2)", "BIGINT", False),
        ("DATE", "TIMESTAMP", False),
        ("STRING", "BIGINT", False),
    ],
)
def test_an_equality_pins_only_where_each_value_has_one_equal(one: str, other: str, pins: bool) -> None:
    left = Stream("l", (Column("a", Type(one)),))
    right = Stream("r", (Column("a", Type(other)),))
    joined = join(scan(left), scan(right), on="l.a = r.a")
    assert bool(equality_classes(joined)) == pins
    assert inexact(joined) == (() if pins else (("l.a", "r.a"),))
