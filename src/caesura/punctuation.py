"""Patterns and punctuations: "no more rows like this", as data (Tucker et al., section 3).

Everything here is total. Values of different kinds are never equal and never ordered, so a pattern of one
kind simply does not match a value of another; in particular TRUE is not 1 and a date is not an instant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar, overload

Value: TypeAlias = bool | int | float | Decimal | str | date | datetime
Rank: TypeAlias = tuple[str, bool, Any]
R = TypeVar("R", bound=Mapping[str, object])


@overload
def rank(value: Value) -> Rank: ...
@overload
def rank(value: object) -> Rank | None: ...
def rank(value: object) -> Rank | None:
    """The place of a value in SQL's order: (kind, is NaN, value).

    Equal ranks are equal values. As in Spark, NaN equals itself and is greater than every other number.
    None for what only the wildcard matches: NULL, and values such as arrays that no pattern speaks of.
    """
    match value:
        case bool():
            return ("boolean", False, value)
        case int():
            return ("number", False, value)
        case float():
            nan = value != value
            return ("number", nan, 0 if nan else value)
        case Decimal():
            return ("number", value.is_nan(), 0 if value.is_nan() else value)
        case str():
            return ("text", False, value)
        case datetime():
            return ("local time" if value.utcoffset() is None else "instant", False, value)
        case date():
            return ("day", False, value)
        case _:
            return None


def equal(one: object, other: object) -> bool:
    """SQL's equality, with unknown taken as false."""
    place = rank(one)
    return place is not None and place == rank(other)


@dataclass(frozen=True)
class Wildcard:
    """Matches everything, and alone matches NULL."""


@dataclass(frozen=True)
class Empty:
    """Matches nothing."""


@dataclass(frozen=True)
class Constant:
    """One value. Constants are equal as SQL values are: 1 and 1.0 are, 1 and TRUE are not."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and rank(self.value) == rank(other.value)

    def __hash__(self) -> int:
        return hash(rank(self.value))


@dataclass(frozen=True)
class Range:
    """The values between two ends; an end that is None is no limit. Ranges are continuous for all types."""

    low: Value | None = None
    high: Value | None = None
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True)
class Listed:
    values: frozenset[Value]


Pattern: TypeAlias = Wildcard | Constant | Range | Listed | Empty


def matches(pattern: Pattern, value: object) -> bool:
    match pattern:
        case Wildcard():
            return True
        case Empty():
            return False
        case Constant(constant):
            return equal(constant, value)
        case Listed(values):
            return any(equal(listed, value) for listed in values)
        case Range(low, high, low_open, high_open):
            place = rank(value)
            return (
                place is not None
                and (low is None or before(rank(low), place, strictly=low_open))
                and (high is None or before(place, rank(high), strictly=high_open))
            )


def before(one: Rank, other: Rank, *, strictly: bool) -> bool:
    """Whether `one` comes before `other` within one kind, or is equal to it unless `strictly`."""
    return one[0] == other[0] and (one < other or (one == other and not strictly))


def normal(pattern: Pattern) -> Pattern:
    """The same set of values, written the shortest way: nothing is Empty, one value a Constant."""
    match pattern:
        case Listed(values) if len(values) < 2:
            return Constant(*values) if values else Empty()
        case Range(low, high, low_open, high_open) if low is not None and high is not None:
            if rank(low) == rank(high) and not (low_open or high_open):
                return Constant(low)
            return pattern if before(rank(low), rank(high), strictly=True) else Empty()
        case Range(low, high, low_open, high_open):
            return Range(low, high, low_open and low is not None, high_open and high is not None)
        case _:
            return pattern


def intersect(one: Pattern, other: Pattern) -> Pattern:
    """Matches what both match, in normal form."""
    match one:
        case Wildcard():
            return normal(other)
        case Empty():
            return Empty()
        case Constant(value):
            return Constant(value) if matches(other, value) else Empty()
        case Listed(values):
            return normal(Listed(frozenset(value for value in values if matches(other, value))))
        case Range():
            return _overlap(one, other) if isinstance(other, Range) else intersect(other, one)


def _overlap(one: Range, other: Range) -> Pattern:
    lows = [(rank(r.low), r.low_open, r.low) for r in (one, other) if r.low is not None]
    highs = [(rank(r.high), not r.high_open, r.high) for r in (one, other) if r.high is not None]
    if len({kind for (kind, _, _), _, _ in lows + highs}) > 1:
        return Empty()
    _, low_open, low = max(lows, key=itemgetter(0, 1), default=(None, False, None))
    _, high_closed, high = min(highs, key=itemgetter(0, 1), default=(None, True, None))
    return normal(Range(low, high, low_open, not high_closed))


@dataclass(frozen=True)
class Punctuation:
    """One pattern per attribute. Canonical: sorted by attribute, patterns normal, wildcards left out."""

    patterns: tuple[tuple[str, Pattern], ...]

    def __post_init__(self) -> None:
        stored = ((name, normal(p)) for name, p in self.patterns if not isinstance(p, Wildcard))
        object.__setattr__(self, "patterns", tuple(sorted(stored, key=lambda pair: pair[0])))

    @staticmethod
    def of(patterns: Mapping[str, Pattern]) -> Punctuation:
        return Punctuation(tuple(patterns.items()))

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes about which something is said."""
        return frozenset(name for name, _ in self.patterns)


EVERYTHING = Punctuation(())


def match(row: Mapping[str, object], p: Punctuation) -> bool:
    return all(matches(pattern, row[name]) for name, pattern in p.patterns)


def combine(p: Punctuation, q: Punctuation) -> Punctuation | None:
    """match(t, combine(p, q)) ⇔ match(t, p) ∧ match(t, q); None, the paper's Ψ, matches no row."""
    ours, theirs = dict(p.patterns), dict(q.patterns)
    both = {name: intersect(ours.get(name, Wildcard()), theirs.get(name, Wildcard())) for name in ours | theirs}
    return None if Empty() in both.values() else Punctuation.of(both)


def confined(p: Punctuation, attributes: Collection[str]) -> bool:
    """Wildcard on every attribute outside `attributes`: p speaks of whole keys over them."""
    return all(name in attributes for name, _ in p.patterns)


def rename(p: Punctuation, names: Mapping[str, str]) -> Punctuation | None:
    """p with attributes renamed; patterns that meet under one name combine, None if to nothing."""
    renamed: Punctuation | None = EVERYTHING
    for name, pattern in p.patterns:
        if renamed is not None:
            renamed = combine(renamed, Punctuation(((names.get(name, name), pattern),)))
    return renamed


def nomatch(row: Mapping[str, object], p: Punctuation) -> bool:
    return not match(row, p)


def set_match(row: Mapping[str, object], ps: Iterable[Punctuation]) -> bool:
    return any(match(row, p) for p in ps)


def set_nomatch(row: Mapping[str, object], ps: Iterable[Punctuation]) -> bool:
    return not set_match(row, ps)


def set_match_rows(rows: Iterable[R], ps: Collection[Punctuation]) -> tuple[R, ...]:
    """The paper's setMatchTs."""
    return tuple(row for row in rows if set_match(row, ps))


def set_nomatch_rows(rows: Iterable[R], ps: Collection[Punctuation]) -> tuple[R, ...]:
    """The paper's setNomatchTs."""
    return tuple(row for row in rows if set_nomatch(row, ps))


def set_nomatch_punctuations(rows: Collection[R], ps: Iterable[Punctuation]) -> frozenset[Punctuation]:
    """The paper's setNomatchPs: those with no match among the rows."""
    return frozenset(p for p in ps if all(nomatch(row, p) for row in rows))


def set_combine(ps: Iterable[Punctuation], qs: Collection[Punctuation]) -> frozenset[Punctuation]:
    combinations = (combine(p, q) for p in ps for q in qs)
    return frozenset(both for both in combinations if both is not None)


@dataclass(frozen=True)
class Scheme:
    """A promise of punctuations to come: constants on all `attributes` together, for every key some day.

    Ordered: instead, an upper bound on the one attribute that rises for ever.
    """

    attributes: tuple[str, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.ordered and len(self.attributes) != 1:
            raise ValueError(f"an ordered scheme has one attribute, not {len(self.attributes)}")

    def __str__(self) -> str:
        return f"({', '.join(self.attributes + ('ordered',) * self.ordered)})"
