from __future__ import annotations

import pytest

from caesura.safety.bounded import Conjunctive
from caesura.safety.comparisons import ZERO, Closure, Comparison, Few, Interval, closure
from tests.property.conjunctive import compared


def said(*conditions: str) -> Closure:
    """`x < y`, `x >= 3`"""
    found: list[Comparison] = []
    for each in conditions:
        x, op, y = each.split()
        found += compared(x, op, ZERO, int(y)) if y.lstrip("-").isdigit() else compared(x, op, y)
    return closure(found)


def test_less_is_at_most_one_less() -> None:
    assert said("x < y", "y < z").most("x", "z") == -2


def test_bounds_travel_along_comparisons() -> None:
    known = said("x < y", "y < 8", "x > 3")
    assert known.interval("x") == Interval(4, 6)
    assert known.interval("y") == Interval(5, 7)
    assert known.bounded("x")
    assert known.size("x") == 3


def test_half_a_bound_is_none() -> None:
    assert not said("x < y", "y < 8").bounded("x")
    assert said("x < y", "y < 8").interval("x") == Interval(None, 6)


def test_equal_elements_are_one_class() -> None:
    known = said("x = y", "y = z", "z < w")
    assert known.same("x") == {"x", "y", "z"}
    assert said("x <= y", "y <= x").same("x") == {"x", "y"}


@pytest.mark.parametrize(
    "conditions",
    [("x < y", "y < x"), ("x < 5", "x > 4"), ("x < y", "y < z", "x > 3", "z < 6"), ("x = 1", "x = 2")],
)
def test_what_contradicts_itself_has_no_solution(conditions: tuple[str, ...]) -> None:
    assert not said(*conditions).satisfiable


def test_a_solution_satisfies_all() -> None:
    known = said("x < y", "y <= z", "z = w", "x > 7", "v < x")
    values = known.solution
    assert values is not None
    assert values[ZERO] == 0
    assert all(values[c.lesser] <= values[c.greater] + c.more for c in known.comparisons)


def test_the_reason_is_the_way_to_the_bound() -> None:
    known = closure(
        (*compared("x", "<", "y"), Comparison("y", ZERO, 7, "y < 8"), Comparison("z", ZERO, 1, "z < 2"))
    )
    assert [each.said for each in known.path("x", ZERO)] == ["", "y < 8"]


def test_few_values_are_those_of_the_whole_class() -> None:
    known = closure(compared("x", "=", "y"), (Few("y", "y IN (1, 5)", 2),))
    assert known.bounded("x")
    assert known.size("x") == 2
    assert not closure(compared("x", "<", "y"), (Few("y", "y IN (1, 5)", 2),)).bounded("x")


STREAMS = (("s.a", "s.b"), ("t.c", "t.d"))


def references(*conditions: str) -> set[tuple[object, object]]:
    query = Conjunctive(STREAMS, said(*conditions))
    return {(each.lesser, each.greater) for each in query.references}


def test_an_inequality_with_an_element_between_is_redundant() -> None:
    assert references("s.a < t.c", "t.c < t.d", "s.a < t.d") == {("s.a", "t.c")}


def test_an_inequality_that_constants_force_is_redundant() -> None:
    assert references("s.a < t.c", "s.a < 5", "t.c > 7") == set()
    assert references("s.a < t.c", "s.a < 5") == {("s.a", "t.c")}


def test_attributes_that_cannot_lie_beyond_the_constants_together_are_no_reference() -> None:
    assert references("s.a < t.c", "s.a < 5", "t.c > 2") == set()


def test_bounded_attributes_are_no_references() -> None:
    assert references("s.a < t.c", "s.a > 0", "t.c < 9") == set()


def test_an_equality_is_no_reference() -> None:
    assert references("s.a = t.c") == set()
