"""Grouping with SUM, COUNT, MIN, MAX and AVG, under SQL's rules for NULL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import Aggregate
from caesura.punctuation import Punctuation, confined, rank, set_match_rows, set_nomatch_rows


@dataclass(frozen=True)
class Group:
    """pass: the result of each group that a punctuation confined to the keys matches. prop: those punctuations.
    keep: the partial aggregates of the other groups, one row each.

    NULL is a key like any other, but only the wildcard matches it. Without keys there is one group, there from
    the start and closed by EVERYTHING alone, so that an input without rows gives COUNT 0 and NULLs.

    The invariant asks one punctuation to close the whole group, which is less than faithful in general: some
    results can no longer change although no such punctuation has come (MAX is already the greatest of its
    type; {k: 1, v: < 0} and {k: 1, v: ≥ 0} together leave SUM(v) only NULLs). It is exact where every further
    row changes the result, as with COUNT(*), and the columns that are not keys may be NULL: the row of key k
    and NULLs elsewhere is ruled out by a single punctuation, confined to the keys, or by none.
    """

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def initial(self) -> State:
        return (Slice(() if self.keys else (self.opened(Row()),)),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        partials = {self.key(partial): partial for partial in held.rows}
        for row in arrived.rows:
            partial = partials.get(self.key(row), self.opened(row))
            partials[self.key(row)] = self.updated(partial, row)
        return (), (Slice(tuple(partials.values()), held.punctuations | arrived.punctuations),)

    def key(self, row: Row) -> tuple[object, ...]:
        """Equal for rows of one group: as `rank`, but NULL equals NULL."""
        return tuple(rank(row[name]) or row[name] for name in self.keys)

    def opened(self, row: Row) -> Row:
        """The partial aggregates of a group before its first row."""
        keys = {name: row[name] for name in self.keys}
        return Row.of(keys | {a.result.name: _opened(a) for a in self.aggregates})

    def updated(self, partial: Row, row: Row) -> Row:
        return Row.of(
            dict(partial) | {a.result.name: _updated(a, partial[a.result.name], row) for a in self.aggregates}
        )

    def finished(self, partial: Row) -> Row:
        return Row.of(
            dict(partial) | {a.result.name: _finished(a, partial[a.result.name]) for a in self.aggregates}
        )

    def closing(self, punctuations: Iterable[Punctuation]) -> frozenset[Punctuation]:
        """A pattern outside the keys speaks of a part of a group only."""
        return frozenset(p for p in punctuations if confined(p, self.keys))

    def pass_(self, state: State) -> Rows:
        (held,) = state
        return tuple(
            self.finished(partial) for partial in set_match_rows(held.rows, self.closing(held.punctuations))
        )

    def keep(self, state: State) -> State:
        (held,) = state
        return (Slice(set_nomatch_rows(held.rows, self.closing(held.punctuations)), held.punctuations),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return self.closing(kept[0].punctuations)


def _opened(aggregate: Aggregate) -> object:
    match aggregate.function:
        case "COUNT":
            return 0
        case "AVG":
            return (0, 0)  # sum and count
        case "SUM" | "MIN" | "MAX":
            return None


def _updated(aggregate: Aggregate, partial: Any, row: Row) -> object:
    """NULL arguments are skipped; COUNT(*) has no argument to skip."""
    if aggregate.argument is None:
        return partial + 1
    value: Any = row[aggregate.argument]
    if value is None:
        return partial
    match aggregate.function:
        case "COUNT":
            return partial + 1
        case "AVG":
            total, count = partial
            return (total + value, count + 1)
        case "SUM":
            return value if partial is None else partial + value
        case "MIN":
            return value if partial is None else min(partial, value, key=rank)
        case "MAX":
            return value if partial is None else max(partial, value, key=rank)


def _finished(aggregate: Aggregate, partial: Any) -> object:
    match aggregate.function:
        case "AVG":
            total, count = partial
            return total / count if count else None
        case "COUNT" | "SUM" | "MIN" | "MAX":
            return partial
