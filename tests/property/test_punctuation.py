"""The laws of patterns and punctuations, over values of all kinds mixed."""

import math
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from caesura.punctuation import (
    EVERYTHING,
    Constant,
    Empty,
    Listed,
    Pattern,
    Punctuation,
    Range,
    Value,
    Wildcard,
    combine,
    confined,
    equal,
    intersect,
    match,
    matches,
    nomatch,
    normal,
    set_combine,
    set_match,
    set_match_rows,
    set_nomatch,
    set_nomatch_punctuations,
    set_nomatch_rows,
)
from caesura.punctuation_json import read, write
from caesura.types import Type

# Few values of each kind, so that they meet: the ends of ranges, NaN, and look-alikes such as TRUE, 1 and 1.0.
NUMBERS: list[Value] = [0, 1, 2, 3, 1.0, 1.5, -0.0, math.nan, math.inf, -math.inf, Decimal("2.5"), Decimal("NaN")]
TIMES: list[Value] = [date(2024, 1, 1), datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), datetime.max]
VALUES: st.SearchStrategy[Value] = st.sampled_from([False, True, *NUMBERS, "", "0", "1", "b", *TIMES])
CELLS: st.SearchStrategy[object] = VALUES | st.sampled_from([None, [1], b"1", Decimal("sNaN")])


def patterns(values: st.SearchStrategy[Value], *, unlimited: bool = True) -> st.SearchStrategy[Pattern]:
    ends = st.none() | values
    ranges = st.builds(Range, ends, ends, st.booleans(), st.booleans())
    return st.one_of(
        st.builds(Wildcard),
        st.builds(Empty),
        st.builds(Constant, values),
        st.builds(Listed, st.frozensets(values, max_size=4)),
        ranges if unlimited else ranges.filter(lambda r: (r.low, r.high) != (None, None)),
    )


PATTERNS = patterns(VALUES)
NAMES = ("a", "b", "c")
PUNCTUATIONS = st.builds(Punctuation.of, st.dictionaries(st.sampled_from(NAMES), PATTERNS))
ROWS: st.SearchStrategy[Mapping[str, object]] = st.fixed_dictionaries(dict.fromkeys(NAMES, CELLS))
SETS = st.frozensets(PUNCTUATIONS, max_size=4)
BAGS = st.lists(ROWS, max_size=4)


@given(PATTERNS, CELLS)
def test_matching_and_normalising_are_total_and_agree(p: Pattern, value: object) -> None:
    assert matches(p, value) == matches(normal(p), value)
    assert normal(normal(p)) == normal(p)


@given(PATTERNS, PATTERNS, CELLS)
def test_an_intersection_matches_what_both_match(p: Pattern, q: Pattern, value: object) -> None:
    assert matches(intersect(p, q), value) == (matches(p, value) and matches(q, value))


@given(PATTERNS, PATTERNS, CELLS)
def test_intersection_does_not_care_about_order(p: Pattern, q: Pattern, value: object) -> None:
    assert matches(intersect(p, q), value) == matches(intersect(q, p), value)


@given(PATTERNS, PATTERNS)
def test_an_intersection_is_normal(p: Pattern, q: Pattern) -> None:
    both = intersect(p, q)
    assert normal(both) == both


@given(PATTERNS)
def test_only_the_wildcard_matches_null(p: Pattern) -> None:
    assert matches(p, None) == isinstance(p, Wildcard)


@given(CELLS, CELLS, CELLS)
def test_equality_is_symmetric_and_transitive_and_never_of_null(x: object, y: object, z: object) -> None:
    assert equal(x, y) == equal(y, x)
    assert equal(x, z) or not (equal(x, y) and equal(y, z))
    assert not equal(None, x)


@given(PUNCTUATIONS, PUNCTUATIONS, ROWS)
def test_a_combination_matches_what_both_match(p: Punctuation, q: Punctuation, row: Mapping[str, object]) -> None:
    both = combine(p, q)
    assert (both is not None and match(row, both)) == (match(row, p) and match(row, q))


@given(PUNCTUATIONS, ROWS)
def test_everything_is_neutral(p: Punctuation, row: Mapping[str, object]) -> None:
    assert match(row, EVERYTHING)
    assert combine(p, EVERYTHING) == (None if Empty() in dict(p.patterns).values() else p)


@given(PUNCTUATIONS, st.sets(st.sampled_from(NAMES)))
def test_confined_is_about_the_attributes_that_are_not_wildcards(p: Punctuation, names: set[str]) -> None:
    assert confined(p, names) == (p.attributes <= names)


@given(BAGS, SETS)
def test_table_one_follows_from_match(rows: list[Mapping[str, object]], ps: frozenset[Punctuation]) -> None:
    for row in rows:
        assert all(nomatch(row, p) != match(row, p) for p in ps)
        assert set_match(row, ps) == any(match(row, p) for p in ps)
        assert set_nomatch(row, ps) != set_match(row, ps)
    matching, others = set_match_rows(rows, ps), set_nomatch_rows(rows, ps)
    assert len(matching) + len(others) == len(rows)
    assert all(set_match(row, ps) for row in matching)
    assert all(set_nomatch(row, ps) for row in others)
    unmatched = set_nomatch_punctuations(rows, ps)
    assert unmatched == {p for p in ps if not set_match_rows(rows, {p})}


@given(SETS, SETS, ROWS)
def test_combined_sets_match_what_both_sets_match(
    ps: frozenset[Punctuation], qs: frozenset[Punctuation], row: Mapping[str, object]
) -> None:
    assert set_match(row, set_combine(ps, qs)) == (set_match(row, ps) and set_match(row, qs))


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


OF_TYPE: dict[str, st.SearchStrategy[Value]] = {
    "TINYINT": st.integers(-(2**7), 2**7 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "FLOAT": st.floats(width=32, allow_nan=False, allow_infinity=False).map(_single),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "DECIMAL(20, 4)": st.decimals(-(10**16) + 1, 10**16 - 1, places=4, allow_nan=False),
    "STRING": st.text(max_size=5),
    "BOOLEAN": st.booleans(),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(timezones=st.just(UTC)),
    "TIMESTAMP_NTZ": st.datetimes(),
}


TYPED = st.sampled_from(sorted(OF_TYPE)).flatmap(
    lambda type: st.tuples(st.just(type), patterns(OF_TYPE[type], unlimited=False))
)


@given(st.lists(TYPED, max_size=3, unique_by=lambda typed: typed[0]))
def test_what_is_written_is_read_back(typed: list[tuple[str, Pattern]]) -> None:
    p = Punctuation(tuple(typed))
    assert read(write(p), {name: Type(name) for name in OF_TYPE}) == p
