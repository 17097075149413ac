"""The model of ORDER BY: what is complete goes out in order, and nothing that comes later belongs before it."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.model.operator import Row, Slice, run
from caesura.model.sort import Sort
from caesura.plan import SortKey
from caesura.punctuation import EVERYTHING, Constant, Pattern, Punctuation, Range, set_nomatch_rows

BY_K = Sort((SortKey("k"), SortKey("v", descending=True)))


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


def test_null_and_constants_wait_for_the_end() -> None:
    first = Slice((row(None), row(5)), frozenset({says(Constant(5)), says(Range(high=1))}))
    assert emitted(first, Slice((), frozenset({EVERYTHING}))) == [[], [row(None), row(5)]]


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_what_has_gone_out_is_the_beginning_of_whatever_may_come(data: st.DataObject) -> None:
    patterns = st.sampled_from(
        [Range(high=0), Range(high=1, high_open=True), Range(0, 2), Range(1, 2, True), Constant(1)]
    )
    every = [row(k, v) for k, v in product((0, 1, 2), (0, 1))]
    slices = data.draw(
        st.lists(
            st.builds(
                lambda rows, said: Slice(tuple(rows), frozenset(map(says, said))),
                st.lists(st.sampled_from(every), max_size=3),
                st.lists(patterns, max_size=2),
            ),
            min_size=1,
            max_size=3,
        )
    )
    grammatical: list[Slice] = []
    said: frozenset[Punctuation] = frozenset()
    for each in slices:
        grammatical.append(Slice(set_nomatch_rows(each.rows, said), each.punctuations))
        said |= each.punctuations
    out = [each for rows in emitted(*grammatical) for each in rows]
    come = [each for slice in grammatical for each in slice.rows]
    for more in [(), *((each,) for each in set_nomatch_rows(every, said))]:
        assert sorted([*come, *more], key=BY_K.place)[: len(out)] == out
