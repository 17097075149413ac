"""ORDER BY over a stream that never ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import SortKey
from caesura.punctuation import (
    EVERYTHING,
    Constant,
    Empty,
    Listed,
    Pattern,
    Punctuation,
    Range,
    Wildcard,
    before,
    confined,
    match,
    rank,
)


@dataclass(frozen=True)
class Sort:
    """pass: the prefix that is complete, in order: rows before which nothing can still come. keep: the rest.
    prop: the same prefix, as a range.

    The prefix is all up to a bound on the first key. Ranges and points that touch join up, but only from one that
    is open to the left: below any other a row may always come. The first key rises, and its NULLs come last: no
    range has them, so that they have no turn before the end. The other keys break ties.
    """

    keys: tuple[SortKey, ...]

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
        return frozenset() if prefix is None else frozenset({prefix})

    def within(self, row: Row, prefix: Punctuation | None) -> bool:
        return prefix is not None and match(row, prefix)

    def prefix(self, punctuations: Collection[Punctuation]) -> Punctuation | None:
        """What is complete from the left; None if nothing is."""
        if EVERYTHING in punctuations:
            return EVERYTHING
        first = self.keys[0].column
        said = (pattern for p in punctuations if confined(p, (first,)) for _, pattern in p.patterns)
        bound: Range | None = None
        for each in sorted((each for pattern in said for each in _ranges(pattern)), key=_start):
            if self.follows(each, bound):
                upto = Range(high=each.high, high_open=each.high_open)
                bound = upto if bound is None else max(bound, upto, key=_stop)
        return None if bound is None else Punctuation(((first, bound),))

    def follows(self, each: Range, bound: Range | None) -> bool:
        """Whether nothing is left out between what is complete and the range."""
        if each.low is None or bound is None:
            return each.low is None
        gap = bound.high_open and each.low_open
        return bound.high is None or before(rank(each.low), rank(bound.high), strictly=gap)

    def place(self, row: Row) -> tuple[object, ...]:
        """For sorting: NULLs first or last, falling keys turned round."""
        return tuple(_Place(row[key.column], key) for key in self.keys)


def _ranges(pattern: Pattern) -> Iterable[Range]:
    match pattern:
        case Range():
            return (pattern,)
        case Constant(value):
            return (Range(value, value),)
        case Listed(values):
            return (Range(value, value) for value in values)
        case Wildcard() | Empty():
            return ()


def _start(each: Range) -> tuple[object, ...]:
    return (each.low is not None, rank(each.low), each.low_open)


def _stop(each: Range) -> tuple[object, ...]:
    return (each.high is None, rank(each.high), not each.high_open)


@dataclass(frozen=True)
class _Place:
    value: object
    key: SortKey

    def __lt__(self, other: _Place) -> bool:
        one, two = rank(self.value), rank(other.value)
        if one is None or two is None:
            return (one is None) is self.key.nulls_first if (one is None) is not (two is None) else False
        return two < one if self.key.descending else one < two
