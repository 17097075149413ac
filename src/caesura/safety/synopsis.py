"""THEORY sections 8 and 9: an input of a join is remembered by a synopsis, if that is bounded.

A synopsis keeps, for each combination of values that matter, how many rows had them (bag semantics), or the row
that finds a partner if any does (set semantics). Values beyond all constants are alike where only constants are
compared with them, so that one stands for all. What a grouping above takes together is taken together here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

from sqlglot import exp

from caesura.expression import Expr
from caesura.plan import Aggregate, Join
from caesura.safety.bounded import Lack
from caesura.safety.comparisons import Interval

_ORDERS = 3
"""Of two values: less, equal, greater."""


@dataclass(frozen=True)
class Key:
    """A column by which rows are told apart; beyond `low` and `high` one value stands for all, the end itself."""

    column: str
    low: int | None = None
    high: int | None = None
    size: int | None = None
    """How many values there are at the most, if that can be told."""


@dataclass(frozen=True)
class Extreme:
    """A column of which the greatest or the least value counts: `below` or `above` all constants, or anywhere."""

    column: str
    below: bool = True
    above: bool = True


@dataclass(frozen=True)
class Pushed:
    """An aggregate that a grouping above the join takes over columns of one input alone."""

    input: int
    aggregate: Aggregate
    over: tuple[Expr, ...]


@dataclass(frozen=True)
class Synopsis:
    """What is kept of an input of a join instead of its rows.

    `duplicates`: how often each combination came is counted. Otherwise, where `greatest` or `least` are not empty,
    one row stays for each combination: the one whose least column of `greatest` is greatest, or whose greatest of
    `least` is least. `pushed`: the aggregates that are kept of each combination.
    """

    join: Join
    input: int
    keys: tuple[Key, ...]
    duplicates: bool
    greatest: tuple[Extreme, ...] = ()
    least: tuple[Extreme, ...] = ()
    pushed: tuple[Pushed, ...] = ()
    empty: bool = False
    """Whether no row can ever be part of a result: the conditions contradict each other."""
    why: tuple[str, ...] = ()
    """The conditions that bound it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the input that it still knows."""
        extremes = (each.column for each in (*self.greatest, *self.least))
        return tuple(dict.fromkeys((*(key.column for key in self.keys), *extremes)))

    @property
    def ordered(self) -> tuple[tuple[str, str], ...]:
        """Columns whose order among each other tells rows apart: which of them counts depends on it."""
        sides = ([each.column for each in side] for side in (self.greatest, self.least))
        return tuple(dict.fromkeys(pair for side in sides for pair in combinations(side, 2)))

    @cached_property
    def bound(self) -> int | None:
        """The most rows it can have, if that can be told."""
        if self.empty:
            return 0
        sizes = [key.size for key in self.keys if key.size is not None]
        if len(sizes) < len(self.keys):
            return None
        kept = max(bool(self.greatest) + bool(self.least), 1)
        return prod(sizes) * prod(_ORDERS for _ in self.ordered) * kept


@dataclass(frozen=True)
class Summary:
    """A join as far as synopses go: for each input one, or why there can be none; None for a finite input.

    `said`: what has to be asked where rows meet, all else follows from it and from the filters of the inputs.
    """

    join: Join
    inputs: tuple[Synopsis | Lack | None, ...]
    intervals: Mapping[str, Interval]
    """The columns compared that all conditions together keep between ends."""
    lists: Mapping[str, exp.Expr]
    """Columns that have to equal others whose values are listed: the condition, in their own names."""
    said: tuple[exp.Expr, ...]

    def of(self, i: int) -> Synopsis | None:
        found = self.inputs[i]
        return found if isinstance(found, Synopsis) else None
