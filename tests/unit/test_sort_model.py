"""The model of ORDER BY: what is complete goes out in order, and nothing that comes later belongs before it."""

from __future__ import annotations

from caesura.model.operator import Row, Slice, run
from caesura.model.sort import Sort
from caesura.plan import SortKey
from caesura.punctuation import EVERYTHING, Constant, Listed, Pattern, Punctuation, Range

BY_K = Sort((SortKey("k", nulls_first=False), SortKey("v", descending=True)))


def row(k: int | None, v: int | None = 0) -> Row:
    return Row.of({"k": k, "v": v})


def says(pattern: Pattern) -> Punctuation:
    return Punctuation.of({"k": pattern})


def emitted(*slices: Slice) -> list[list[Row]]:
    return [list(output.rows) for output in run(BY_K, ((slice,) for slice in slices))]


def test_what_is_up_to_the_bound_goes_out_in_order() -> None:
    first = Slice((row(3), row(1, 1), row(1, 2), row(2)), frozenset({says(Range(high=2))}))
    later = Slice((row(4),), frozenset({says(Range(high=4, high_open=True))}))
    assert emitted(first, later) == [[row(1, 2), row(1, 1), row(2)], [row(3)]]


def test_a_range_that_is_closed_to_the_left_releases_nothing_until_it_joins_up() -> None:
    middle = Slice((row(2), row(0)), frozenset({says(Range(low=2, high=4))}))
    lower = Slice((), frozenset({says(Range(high=2, high_open=True))}))
    assert emitted(middle, lower) == [[], [row(0), row(2)]]


def test_a_gap_of_one_point_is_a_gap() -> None:
    both = frozenset({says(Range(high=2, high_open=True)), says(Range(low=2, high=4, low_open=True))})
    assert emitted(Slice((row(1), row(3)), both)) == [[row(1)]]


def test_points_close_gaps() -> None:
    both = frozenset({says(Range(high=2, high_open=True)), says(Range(low=2, high=4, low_open=True))})
    assert emitted(Slice((row(3), row(1)), both), Slice((), frozenset({says(Constant(2))}))) == [
        [row(1)],
        [row(3)],
    ]


def test_a_range_without_ends_has_all_but_null() -> None:
    closed = Slice((row(None), row(5), row(1)), frozenset({says(Range())}))
    assert emitted(closed) == [[row(1), row(5)]]


def test_null_and_a_point_by_itself_wait_for_the_end() -> None:
    first = Slice((row(5), row(None)), frozenset({says(Constant(5)), says(Range(high=1))}))
    assert emitted(first, Slice((), frozenset({EVERYTHING}))) == [[], [row(5), row(None)]]


def test_the_prefix_is_passed_on_as_a_range() -> None:
    both = frozenset({says(Range(high=2)), says(Listed(frozenset({2, 9}))), says(Range(1, 4, high_open=True))})
    (output,) = run(BY_K, ((Slice((), both),),))
    assert output.punctuations == {says(Range(high=4, high_open=True))}
