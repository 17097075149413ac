"""Runs of values as the driver joins them up, against sets of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.operators.intervals import Run, Span, joined, of_type, together
from caesura.types import BIGINT, Type

NUMBERS = range(-3, 12)
TINYINT = Type("TINYINT")
ENDS = st.none() | st.integers(0, 8)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    first, last = draw(ENDS), draw(ENDS)
    if first is not None and last is not None and first > last:
        first, last = last, first
    return Run(BIGINT, first, last)


def values(run: Run) -> set[int]:
    return {n for n in NUMBERS if (run.first is None or run.first <= n) and (run.last is None or n <= run.last)}


@given(st.lists(runs(), max_size=6))
def test_the_same_values_in_the_fewest_runs(given: list[Run]) -> None:
    found = joined(given)
    held = set[int]().union(*map(values, given))
    assert set[int]().union(*map(values, found)) == held
    assert len(found) == sum(1 for n in NUMBERS if n in held and (n - 1 not in held or n == NUMBERS[0]))


@given(runs(), st.integers(0, 8), st.integers(0, 8))
def test_runs_meet_where_they_share_a_value(run: Run, one: int, other: int) -> None:
    first, last = sorted((one, other))
    assert run.meets((first, last)) == bool(values(run) & set(range(first, last + 1)))


@given(runs(), st.integers(0, 8), st.integers(0, 8))
def test_to_values_between_two_ends_a_run_is_the_same(run: Run, one: int, other: int) -> None:
    first, last = sorted((one, other))
    asked = set(range(first, last + 1))
    assert values(run.between((first, last))) & asked == values(run) & asked


@given(st.lists(runs(), max_size=6))
def test_runs_of_two_types_are_not_joined(given: list[Run]) -> None:
    narrow = [Run(TINYINT, run.first, run.last) for run in given]
    span = Span("BIGINT", None, "7L")
    assert together([*given, span, *narrow]) == (span, *joined(given), *joined(narrow))


@given(st.lists(runs(), max_size=4))
def test_a_narrower_type_has_fewer_values(given: list[Run]) -> None:
    wide = [Run(BIGINT, run.first and run.first * 100, run.last and run.last * 100) for run in given]
    found = of_type(wide, TINYINT)
    for n in (-128, -1, 0, 100, 127):
        assert any(run.meets((n, n)) for run in found) == any(run.meets((n, n)) for run in wide)
    assert all(end is None or -128 <= end <= 127 for run in found for end in (run.first, run.last))
