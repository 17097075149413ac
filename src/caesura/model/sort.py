"""ORDER BY over a stream that never ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import SortKey
from caesura.punctuation import EVERYTHING, Punctuation, Range, confined, matches, rank


@dataclass(frozen=True)
class Sort:
    """pass: the prefix that is complete, in order: rows before which nothing can still come. keep: the rest.
    prop: the same prefix, as a range.

    The prefix is all up to a bound on the first key, which rises. Ranges that touch join up, but only from one
    that is open to the left: below any other a row may always come. A row with NULL in the first key has no turn
    before the end. The first key rises; the others break ties.
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
        ranges = [p for each in said if confined(each, (first,)) for _, p in each.patterns if isinstance(p, Range)]
        bound: Range | None = None
        while True:
            touching = [each for each in ranges if each.high is not None and self._touches(bound, each)]
            best = max(touching, key=lambda each: (rank(each.high), not each.high_open), default=None)
            if best is None or (bound is not None and not self._beyond(best, bound)):
                return None if bound is None else Punctuation(((first, bound),))
            bound = Range(high=best.high, high_open=best.high_open)

    def _touches(self, bound: Range | None, other: Range) -> bool:
        """Whether nothing is left out between what is complete and the other range."""
        if other.low is None:
            return True
        if bound is None or bound.high is None or rank(bound.high)[0] != rank(other.low)[0]:
            return False
        gap = bound.high_open and other.low_open
        return rank(other.low) < rank(bound.high) or (rank(other.low) == rank(bound.high) and not gap)

    def _beyond(self, one: Range, other: Range) -> bool:
        assert one.high is not None
        assert other.high is not None
        return (rank(one.high), not one.high_open) > (rank(other.high), not other.high_open)

    def place(self, row: Row) -> tuple[object, ...]:
        """For sorting: NULLs first or last, falling keys turned round."""
        return tuple(_Place(row[key.column], key) for key in self.keys)


@dataclass(frozen=True)
class _Place:
    value: object
    key: SortKey

    def __lt__(self, other: _Place) -> bool:
        one, two = rank(self.value), rank(other.value)
        if one is None or two is None:
            return (one is None) is self.key.nulls_first if (one is None) is not (two is None) else False
        return two < one if self.key.descending else one < two
