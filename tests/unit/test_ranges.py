"""What the driver knows of the values in a table, without reading it: it follows the table through every step."""

from __future__ import annotations

from caesura.operators.closed import Closed, uncovered
from caesura.operators.intervals import NO_VALUE, Run, Span, meet
from caesura.operators.rows import Rows, hull, local, union
from caesura.types import BIGINT


def table(**ranges: tuple[int, int]) -> Rows:
    return local(("x", "y"), [("1L", "2L")]).ranging(ranges)


def points(first: int, last: int) -> Closed:
    return Closed({("x",): table(x=(first, last)).only(["x"])})


def test_ranges_follow_columns() -> None:
    rows = table(x=(1, 5), y=(2, 3))
    assert rows.renamed({"x": "a"}).ranges == {"a": (1, 5)}
    assert rows.where("x > 2").ranges == rows.distinct().ranges == rows.ranges
    assert rows.project({"x": "`x` + 1", "z": "`y`"}).ranges == {"z": (2, 3)}
    assert rows.grouped(["x"], {"y": "max(y)"}).ranges == {"x": (1, 5)}
    assert rows.grouped(["x", "y"], {"y": "max(y)"}).ranges == {"x": (1, 5)}
    assert rows.beyond(table(x=(7, 8))).ranges == rows.ranges
    assert rows.where("x > 2").renamed({"y": "a"}).only(["a"]).ranges == {"a": (2, 3)}
    partner = table(x=(7, 8)).renamed({"x": "other"})
    assert rows.join(partner, None).ranges == {"x": (1, 5), "y": (2, 3), "other": (7, 8)}
    assert rows.matching_on(partner, "x = other", negated=True).ranges == rows.ranges


def test_what_is_left_out_says_nothing_of_the_rest() -> None:
    nothing_known = table()
    left = uncovered(nothing_known, points(1, 5))
    assert left is not None
    assert left.ranges == {}
    assert nothing_known.matching(table(x=(1, 5)), ["x"]).ranges == {}


def test_of_several_tables_only_what_is_known_of_each() -> None:
    both = union((table(x=(1, 5), y=(2, 3)), table(x=(-4, 2))))
    assert both is not None
    assert both.ranges == {"x": (-4, 5)}
    assert hull([{"x": NO_VALUE}, {"x": (1, 5)}]) == {"x": (1, 5)}
    assert hull([]) == {}


def test_no_value_meets_nothing() -> None:
    assert not meet(NO_VALUE, (1, 5))
    assert not meet((-(2**63), 2**63 - 1), NO_VALUE)
    assert not Run(BIGINT, None, 5).meets(NO_VALUE)


def test_what_cannot_match_is_not_asked() -> None:
    rows = table(x=(1, 5))
    assert uncovered(rows, points(6, 9)) is rows
    assert uncovered(rows, Closed(runs={"x": (Run(BIGINT, 6, None),)})) is rows
    assert uncovered(rows, points(5, 9)) is not rows
    assert uncovered(rows, Closed(runs={"x": (Run(BIGINT, 0, 1),)})) is not rows


def test_what_may_match_is_asked() -> None:
    rows, nothing_known = table(x=(1, 5)), table()
    assert uncovered(nothing_known, points(6, 9)) is not nothing_known
    unknown = Closed({("x",): table().only(["x"])})
    span = Closed(spans={"x": (Span("BIGINT", "6L", None),)})
    other_term = Closed(runs={"x": (Run(BIGINT, 6, 9),)}, terms={"x": "`y` + 9"})
    for closed in (unknown, span, other_term):
        assert uncovered(rows, closed) is not rows


def test_a_punctuation_on_several_columns_matches_only_if_all_do() -> None:
    def pairs(**ranges: tuple[int, int]) -> Closed:
        return Closed({("x", "y"): table(**ranges)})

    rows = table(x=(1, 5), y=(2, 3))
    assert uncovered(rows, pairs(x=(1, 5), y=(4, 9))) is rows
    assert uncovered(rows, pairs(y=(4, 9))) is rows
    assert uncovered(rows, pairs(x=(1, 5))) is not rows


def test_columns_without_null_follow_their_names() -> None:
    rows = table().present(["x"])
    assert rows.renamed({"x": "a"}).filled == {"a"}
    assert rows.where("y > 2").filled == rows.matching(table(), ["y"], negated=True).filled == {"x"}
    assert rows.project({"x": "`x` + 1", "z": "`x`"}).filled == {"z"}
    both = union((rows, table()))
    assert both is not None
    assert both.filled == frozenset()
    assert rows.join(table().renamed({"y": "z"}), None).filled == frozenset()


def test_where_all_values_are_closed_only_null_is_left() -> None:
    rows, closed = table(x=(1, 5)), Closed(spans={"x": (Run(BIGINT, 0, 3),)}, runs={"x": (Run(BIGINT, 4, 9),)})
    assert uncovered(rows, closed) is not None
    assert uncovered(rows.present(["x"]), closed) is None
    assert uncovered(rows.present(["y"]), closed) is not None
    assert uncovered(table(x=(1, 10)).present(["x"]), closed) is not None
    assert uncovered(rows.present(["x"]), Closed(spans=closed.spans, terms={"x": "`y`"})) is not None
