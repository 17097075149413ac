"""The model of a ranking: what comes out when, and how little is kept of a partition."""

from __future__ import annotations

from caesura.model.operator import Output, Row, Slice, run
from caesura.model.rank import CAME, Rank
from caesura.plan import SortKey
from caesura.punctuation import EVERYTHING, Constant, Pattern, Punctuation, Range

DEAREST = Rank(
    ("k",), (SortKey("v", descending=True),), (SortKey("v", descending=True), SortKey("t")), "ROW_NUMBER", "n", 2
)
BY_TIME = (SortKey("t", nulls_first=False),)


def by_time(function: str, limit: int | None) -> Rank:
    return Rank(("k",), BY_TIME, (*BY_TIME, SortKey("v")), function, "n", limit, passing=True)


def row(k: int | None, t: int | None, v: int = 0) -> Row:
    return Row.of({"k": k, "t": t, "v": v})


def says(**patterns: Pattern) -> Punctuation:
    return Punctuation.of(patterns)


def ran(rank: Rank, *slices: tuple[list[Row], list[Punctuation]]) -> list[Output]:
    return list(run(rank, ((Slice(tuple(rows), frozenset(said)),) for rows, said in slices)))


def numbers(output: Output) -> list[tuple[object, object]]:
    return [(each["t"], each["n"]) for each in output.rows]


def test_of_an_open_partition_no_more_rows_are_kept_than_are_asked_for() -> None:
    (output,) = ran(DEAREST, ([row(1, t, v=t) for t in range(9)], []))
    assert output.kept == ((row(1, 8, v=8), row(1, 7, v=7)),)


def test_a_partition_comes_out_when_it_is_closed() -> None:
    rows = [row(1, 1, v=5), row(1, 2, v=9), row(2, 3, v=1)]
    first, second = ran(DEAREST, (rows, [says(k=Constant(1))]), ([], [EVERYTHING]))
    assert numbers(first) == [(2, 1), (1, 2)]
    assert first.punctuations == {says(k=Constant(1))}
    assert numbers(second) == [(3, 1)]


def test_a_punctuation_on_other_columns_closes_no_partition() -> None:
    (output,) = ran(DEAREST, ([row(1, 1)], [says(t=Range(high=9)), says(k=Constant(1), t=Constant(1))]))
    assert output.rows == ()
    assert output.punctuations == frozenset()


def test_equal_rows_have_the_same_numbers_whichever_comes_first() -> None:
    rows = [row(1, 3, v=7), row(1, 1, v=7), row(1, 2, v=7)]
    (one,), (other,) = (ran(DEAREST, (each, [EVERYTHING])) for each in (rows, rows[::-1]))
    assert numbers(one) == numbers(other) == [(1, 1), (2, 2)]


def test_a_row_comes_out_when_a_bound_has_passed_it_and_later_ones_are_counted_on() -> None:
    first, second = ran(
        by_time("ROW_NUMBER", None),
        ([row(1, 2), row(1, 1), row(1, 5)], [says(t=Range(high=3))]),
        ([row(1, 4)], [says(t=Range(high=5))]),
    )
    assert numbers(first) == [(1, 1), (2, 2)]
    assert first.kept == ((row(1, 5), Row.of({"k": 1, CAME: 2})),)
    assert numbers(second) == [(4, 3), (5, 4)]
    assert second.kept == ((Row.of({"k": 1, CAME: 4}),),)


def test_of_a_partition_that_is_done_only_that_is_kept() -> None:
    done = Row.of({"k": 1, CAME: 1})
    first, second, closed = ran(
        by_time("ROW_NUMBER", 1),
        ([row(1, 1), row(1, 2)], [says(t=Range(high=1))]),
        ([row(1, 3), row(1, None)], [says(t=Range(high=2))]),
        ([], [says(k=Constant(1))]),
    )
    assert numbers(first) == [(1, 1)]
    assert first.kept == second.kept == ((done,),)
    assert second.rows == closed.rows == ()
    assert closed.kept == ((),)


def test_after_equal_rows_rank_leaves_a_gap_and_dense_rank_none() -> None:
    slices = (
        ([row(1, 1, v=1), row(1, 1, v=2)], [says(t=Range(high=1))]),
        ([row(1, 2), row(1, 3)], [EVERYTHING]),
    )
    assert [numbers(each) for each in ran(by_time("RANK", 3), *slices)] == [[(1, 1), (1, 1)], [(2, 3)]]
    assert [numbers(each) for each in ran(by_time("DENSE_RANK", 2), *slices)] == [[(1, 1), (1, 1)], [(2, 2)]]


def test_a_row_without_a_time_has_no_turn_before_its_partition_is_closed() -> None:
    first, second = ran(
        by_time("ROW_NUMBER", 3),
        ([row(1, None), row(1, 1)], [says(t=Range())]),
        ([], [says(k=Constant(1))]),
    )
    assert numbers(first) == [(1, 1)]
    assert numbers(second) == [(None, 2)]


def test_a_partition_of_null_is_closed_by_the_end_only() -> None:
    first, second = ran(DEAREST, ([row(None, 1)], [says(k=Range())]), ([], [EVERYTHING]))
    assert first.rows == ()
    assert numbers(second) == [(1, 1)]
