from __future__ import annotations

import pytest

from caesura.catalog import Check, OrderedBy, PunctuatedBy
from caesura.plan import Join
from caesura.safety.bounds import stated
from caesura.safety.reach import Reach
from caesura.safety.schemes import derive
from caesura.types import Type
from tests.plans import expr, join, scan, stream, where

TIME = Type("TIMESTAMP")
A = stream("a", "id t", OrderedBy("t"), type=TIME)
B = stream("b", "id t", OrderedBy("t"), type=TIME)


@pytest.mark.parametrize(
    ("predicate", "found"),
    [
        ("x <= y", ["x <= y"]),
        ("x > y", ["y <= x"]),
        ("x = y + 1", ["x <= y + 1", "y <= x - 1"]),
        ("x BETWEEN y AND z + INTERVAL 1 HOUR", ["x <= z + INTERVAL '1' HOUR", "y <= x"]),
        ("x + 2 <= 1 + y - 3", ["x <= y + 1 - 3 - 2"]),
        ("(x - 1) < (y)", ["x <= y + 1"]),
        ("x < 10", ["x <= 10"]),
        ("10 < x", []),
        ("x <> y", []),
        ("x <= y OR x <= z", []),
        ("x <= y + z", []),
        ("x <= -y", []),
        ("x <= y + INTERVAL 1 MONTH", []),
        ("x <= y AND y <= z", ["x <= y", "y <= z"]),
    ],
)
def test_what_a_predicate_bounds(predicate: str, found: list[str]) -> None:
    shown = (
        " ".join((b.column, "<=", b.by if isinstance(b.by, str) else b.by.sql, *map(str, b.shifts)))
        for b in stated(expr(predicate))
    )
    assert list(shown) == found


def reaches(plan: Join) -> list[bool]:
    return [reach is not None and reach.complete for reach in derive(plan).reaches[plan]]


def test_a_band_with_ordered_streams_lets_both_sides_go() -> None:
    band = join(scan(A), scan(B), residual="b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR")
    assert reaches(band) == [True, True]
    half = join(scan(A), scan(B), residual="b.t >= a.t")
    assert reaches(half) == [False, True]


def test_a_bound_pins_no_value() -> None:
    by_value = stream("b", "id t", PunctuatedBy(("t",)), type=TIME)
    assert reaches(join(scan(A), scan(by_value), residual="b.t <= a.t")) == [False, False]


def test_bounds_chain_through_inputs_checks_and_filters() -> None:
    c = stream("c", "t u", OrderedBy("t"), Check(expr("u <= t + INTERVAL 1 DAY")), type=TIME)
    chained = join(scan(A), where(scan(c), "c.t <= c.u"), residual="a.t = c.u")
    assert reaches(chained) == [True, True]
    far = join(scan(A), scan(B), scan(c), residual="a.t <= b.t AND b.t <= c.t AND c.t <= a.t")
    assert reaches(far) == [True, True, True]


def test_a_constant_bounds_as_well() -> None:
    until = where(scan(B), "b.t <= TIMESTAMP '2030-01-01'")
    assert reaches(join(scan(A), until)) == [True, False]


def test_the_hop_says_by_what_an_ordered_attribute_is_bounded() -> None:
    band = join(scan(A), scan(B), residual="b.t <= a.t + INTERVAL 1 HOUR AND a.t <= b.t")
    reach = derive(band).reaches[band][0]
    assert isinstance(reach, Reach)
    (hop,) = reach.hops
    (pin,) = hop.pins
    assert (pin.attribute, pin.by, pin.bounded, [*map(str, pin.shifts)]) == (
        "b.t",
        "a.t",
        True,
        ["+ INTERVAL '1' HOUR"],
    )
    assert not reach.by_values
