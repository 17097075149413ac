"""ORDER BY over a stream that never ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import itemgetter

from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import SortKey
from caesura.punctuation import EVERYTHING, Constant, Listed, Pattern, Punctuation, Range, confined, matches, rank


@dataclass(frozen=True)
class Sort:
    """pass: the prefix that is complete, in order: rows before which nothing can still come. keep: the rest.
    prop: the same prefix, as a range.

    The prefix is all up to a bound on the first key, which rises, or falls if the order does. Patterns that touch
    join up, but only from one that is open to the left: below any other a row may always come. A row with NULL in
    the first key has no turn before the end. The other keys break ties.

    `countable`: the first key is a whole number, so that 3 and 4 touch.
    """

    keys: tuple[SortKey, ...]
    countable: bool = False

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        return (), (state[0] + new[0],)

    def pass_(self, state: State) -> Rows:
        (held,) = state
        prefix = self.prefix(held.punctuations)
        return tuple(sorted((row for row in held.rows if self.within(row, prefix)), key=self.place))

    def keep(self, state: State) -> State:
        (held,) = state
        prefix = self.prefix(held.punctuations)
        return (Slice(tuple(row for row in held.rows if not self.within(row, prefix)), held.punctuations),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        prefix = self.prefix(kept[0].punctuations)
        if prefix == EVERYTHING:
            return frozenset({EVERYTHING})
        return frozenset() if prefix is None else frozenset({prefix})

    def within(self, row: Row, prefix: Punctuation | None) -> bool:
        first = self.keys[0].column
        return prefix is not None and all(matches(pattern, row[first]) for _, pattern in prefix.patterns)

    def prefix(self, punctuations: Iterable[Punctuation]) -> Punctuation | None:
        """What is complete from the left; None if nothing is."""
        said = list(punctuations)
        if EVERYTHING in said:
            return EVERYTHING
        first = self.keys[0].column
        patterns = [p for each in said if confined(each, (first,)) for _, p in each.patterns]
        joined_up = self._joined_up([each for pattern in patterns for each in _ranges(pattern)])
        return next((Punctuation(((first, each),)) for each in joined_up if self.begins(each)), None)

    def begins(self, each: Range) -> bool:
        """Whether nothing comes before the range in the order."""
        return (each.high if self.keys[0].descending else each.low) is None

    def _joined_up(self, ranges: list[Range]) -> list[Range]:
        """The same values in ranges of which no two touch."""
        done: list[Range] = []
        for each in ranges:
            apart = [other for other in done if not self._touch(each, other)]
            done = [*apart, reduce(_hull, (other for other in done if other not in apart), each)]
        return done

    def _touch(self, one: Range, other: Range) -> bool:
        """Whether no value lies between them."""
        return self.reaches(one, other) and self.reaches(other, one)

    def reaches(self, one: Range, other: Range) -> bool:
        """Whether `one` ends at, or after, the start of `other`, or right before it."""
        if one.high is None or other.low is None:
            return True
        high, low = rank(one.high), rank(other.low)
        if self.countable:
            return bool(high[2] - one.high_open + 1 >= low[2] + other.low_open)
        return low < high or (low == high and not (one.high_open and other.low_open))

    def place(self, row: Row) -> tuple[object, ...]:
        """For sorting: NULLs first or last, falling keys turned round."""
        return tuple(Place(row[key.column], key) for key in self.keys)


def _ranges(pattern: Pattern) -> list[Range]:
    match pattern:
        case Range():
            return [pattern]
        case Constant(value):
            return [Range(value, value)]
        case Listed(values):
            return [Range(value, value) for value in values]
        case _:
            return []


def _hull(one: Range, other: Range) -> Range:
    """All from the first value of the two to the last."""
    lows = [(rank(each.low), each.low_open, each.low) for each in (one, other) if each.low is not None]
    highs = [(rank(each.high), not each.high_open, each.high) for each in (one, other) if each.high is not None]
    _, low_open, low = min(lows, key=itemgetter(0, 1)) if len(lows) == 2 else (None, False, None)
    _, high_closed, high = max(highs, key=itemgetter(0, 1)) if len(highs) == 2 else (None, True, None)
    return Range(low, high, low_open, not high_closed)


@dataclass(frozen=True)
class Place:
    """Where a value stands in the order of a key."""

    value: object
    key: SortKey

    def __lt__(self, other: Place) -> bool:
        one, two = rank(self.value), rank(other.value)
        if one is None or two is None:
            return (one is None) is self.key.nulls_first if (one is None) is not (two is None) else False
        return two < one if self.key.descending else one < two
