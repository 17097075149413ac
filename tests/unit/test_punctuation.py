"""Patterns and punctuations by example, most of them from the papers."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from caesura.punctuation import (
    EVERYTHING,
    Constant,
    Empty,
    Listed,
    Pattern,
    Punctuation,
    Range,
    Scheme,
    Wildcard,
    combine,
    confined,
    intersect,
    match,
    matches,
    nomatch,
    rename,
    set_combine,
    set_match,
    set_match_rows,
    set_nomatch,
    set_nomatch_punctuations,
    set_nomatch_rows,
)

NAN = float("nan")
BIDS: list[Mapping[str, object]] = [
    {"item": 1001, "buyer": 7},
    {"item": 1003, "buyer": 7},
    {"item": 2004, "buyer": None},
]
ITEMS = Punctuation.of({"item": Listed(frozenset({1001, 2004}))})
SEVEN = Punctuation.of({"buyer": Constant(7)})


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (Wildcard(), 3),
        (Wildcard(), None),
        (Constant(3), 3),
        (Constant(3), Decimal("3.0")),
        (Constant(NAN), Decimal("NaN")),
        (Listed(frozenset({1, 2})), 2),
        (Range(17, 20, high_open=True), 17),
        (Range(low=17), 10**30),
        (Range(low=17), NAN),
        (Range(high="b"), "azure"),
        (Range(high=date(2024, 2, 29)), date(2024, 2, 29)),
        (Range(), "anything but NULL"),
    ],
)
def test_a_pattern_matches_the_values_it_describes(pattern: Pattern, value: object) -> None:
    assert matches(pattern, value)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (Empty(), 3),
        (Constant(3), 4),
        (Listed(frozenset({1, 2})), 3),
        (Listed(frozenset()), 3),
        (Range(17, 20, high_open=True), 20),
        (Range(17, 20, low_open=True), 17),
        (Range(high=17), NAN),
        (Range(20, 17), 18),
    ],
)
def test_a_pattern_matches_no_other_value(pattern: Pattern, value: object) -> None:
    assert not matches(pattern, value)


@pytest.mark.parametrize(
    "pattern", [Empty(), Constant(0), Listed(frozenset({0, 1})), Range(0, 9), Range(low=0), Range()]
)
def test_null_is_matched_by_the_wildcard_only(pattern: Pattern) -> None:
    assert not matches(pattern, None)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (Constant(1), True),
        (Constant(True), 1),
        (Listed(frozenset({0, 1})), True),
        (Range(0, 9), True),
        (Constant("1"), 1),
        (Range("0", "9"), 5),
        (Constant(date(2024, 1, 1)), datetime(2024, 1, 1)),
        (Range(low=date(2024, 1, 1)), datetime(2025, 1, 1)),
        (Range(low=datetime(2024, 1, 1)), datetime(2025, 1, 1, tzinfo=UTC)),
        (Range(1, "a"), 1),
        (Range(low=0), [1]),
    ],
)
def test_values_of_another_kind_do_not_match_and_raise_nothing(pattern: Pattern, value: object) -> None:
    assert not matches(pattern, value)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Wildcard(), Listed(frozenset({5})), Constant(5)),
        (Constant(1), Constant(1), Constant(1)),
        (Constant(1), Constant(True), Empty()),
        (Listed(frozenset({1, 2})), Listed(frozenset({2, 3})), Constant(2)),
        (Listed(frozenset({1, 2, 3})), Range(low=2), Listed(frozenset({2, 3}))),
        (Listed(frozenset({1})), Constant(2), Empty()),
        (Range(0, 5), Range(3, 9), Range(3, 5)),
        (Range(0, 5), Range(5, 9), Constant(5)),
        (Range(0, 5, high_open=True), Range(5, 9), Empty()),
        (Range(0, 5), Range(0, 5, True, True), Range(0, 5, True, True)),
        (Range(low=0), Range(high=5), Range(0, 5)),
        (Range(low=0), Range(high="a"), Empty()),
        (Range(high=0), Range(high="a"), Empty()),
        (Range(), Range(low=3), Range(low=3)),
        (Range(), Wildcard(), Range()),
        (Empty(), Wildcard(), Empty()),
    ],
)
def test_the_intersection_is_in_normal_form(one: Pattern, other: Pattern, both: Pattern) -> None:
    assert intersect(one, other) == both
    assert intersect(other, one) == both


def test_true_and_one_are_different_constants() -> None:
    assert Constant(True) != Constant(1)
    assert Constant(1) == Constant(Decimal("1.0"))
    assert hash(Constant(1)) == hash(Constant(Decimal("1.0")))


def test_a_punctuation_is_the_same_however_it_was_written() -> None:
    long = Punctuation((("b", Listed(frozenset({2}))), ("c", Wildcard()), ("a", Range(1, 1))))
    assert long == Punctuation((("a", Constant(1)), ("b", Constant(2))))
    assert long.attributes == {"a", "b"}
    assert Punctuation.of({"a": Wildcard()}) == EVERYTHING


def test_a_row_matches_when_every_value_does() -> None:
    assert match({"a": 1, "b": None}, Punctuation.of({"a": Constant(1)}))
    assert not match({"a": 1, "b": None}, Punctuation.of({"a": Constant(1), "b": Constant(1)}))
    assert match({"a": None, "b": None}, EVERYTHING)


def test_combining_intersects_attribute_by_attribute() -> None:
    hours = Punctuation.of({"hour": Range(2, 4)})
    sensors = Punctuation.of({"sid": Constant(1), "hour": Range(low=3)})
    assert combine(hours, sensors) == Punctuation.of({"hour": Range(3, 4), "sid": Constant(1)})


def test_punctuations_without_a_common_row_combine_to_nothing() -> None:
    assert combine(Punctuation.of({"a": Constant(1)}), Punctuation.of({"a": Constant(2)})) is None
    assert combine(EVERYTHING, Punctuation.of({"a": Empty()})) is None


def test_confined_means_wildcards_everywhere_else() -> None:
    p = Punctuation.of({"bidder": Constant(7), "auction": Constant(1001)})
    assert confined(p, {"bidder", "auction", "price"})
    assert not confined(p, {"auction"})
    assert confined(EVERYTHING, ())


def test_renaming_two_attributes_to_one_combines_their_patterns() -> None:
    p = Punctuation.of({"a": Range(0, 5), "b": Range(3, 9), "c": Constant(1)})
    assert rename(p, {"a": "x", "b": "x"}) == Punctuation.of({"x": Range(3, 5), "c": Constant(1)})
    assert rename(p, {"a": "x", "c": "x", "b": "y"}) == Punctuation.of({"x": Constant(1), "y": Range(3, 9)})
    assert rename(p, {"b": "x", "c": "x"}) is None


def test_table_one_of_the_paper() -> None:
    ps = frozenset({ITEMS, SEVEN})
    assert nomatch(BIDS[1], ITEMS)
    assert set_match(BIDS[1], ps)
    assert not set_nomatch(BIDS[1], ps)
    assert set_match_rows(BIDS, {ITEMS}) == (BIDS[0], BIDS[2])
    assert set_nomatch_rows(BIDS, {ITEMS}) == (BIDS[1],)
    assert set_nomatch_punctuations(BIDS[2:], ps) == {SEVEN}
    nobody = Punctuation.of({"buyer": Constant(8)})
    assert set_combine({ITEMS, nobody}, {SEVEN}) == {
        Punctuation.of({"item": Listed(frozenset({1001, 2004})), "buyer": Constant(7)})
    }


def test_a_scheme_is_written_as_in_the_explanations() -> None:
    assert str(Scheme(("bidder", "auction"))) == "(bidder, auction)"
    assert str(Scheme(("at",), ordered=True)) == "(at, ordered)"


def test_an_ordered_scheme_has_exactly_one_attribute() -> None:
    with pytest.raises(ValueError, match="one attribute"):
        Scheme(("at", "auction"), ordered=True)
