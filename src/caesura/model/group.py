"""Grouping with aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from caesura.model.aggregates import Arguments, result
from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import Aggregate
from caesura.punctuation import Punctuation, confined, rank, set_match_rows, set_nomatch_rows


@dataclass(frozen=True)
class Group:
    """pass: the result of each group that a punctuation confined to the keys matches. prop: those punctuations.
    keep: the other groups, one row each, with all that came for each aggregate. How much less will do is not the
    model's question.

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
    changes: bool = False
    """pass instead: the result so far of each group that the slice changed."""

    def initial(self) -> State:
        return (Slice(() if self.keys else (self.opened(Row()),)),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        groups = {self.key(group): group for group in held.rows}
        for row in arrived.rows:
            group = groups.get(self.key(row), self.opened(row))
            groups[self.key(row)] = self.updated(group, row)
        changed = dict.fromkeys(self.key(row) for row in arrived.rows) if self.changes else {}
        out = tuple(self.finished(groups[key]) for key in changed)
        return out, (Slice(tuple(groups.values()), held.punctuations | arrived.punctuations),)

    def key(self, row: Row) -> tuple[object, ...]:
        """Equal for rows of one group: as `rank`, but NULL equals NULL."""
        return tuple(rank(row[name]) or row[name] for name in self.keys)

    def opened(self, row: Row) -> Row:
        """A group before its first row."""
        keys = {name: row[name] for name in self.keys}
        return Row.of(keys | {a.result.name: () for a in self.aggregates})

    def updated(self, group: Row, row: Row) -> Row:
        return Row.of(dict(group) | {a.result.name: (*came(group, a), arguments(row, a)) for a in self.aggregates})

    def finished(self, group: Row) -> Row:
        return Row.of(dict(group) | {a.result.name: result(a, came(group, a)) for a in self.aggregates})

    def closing(self, punctuations: Iterable[Punctuation]) -> frozenset[Punctuation]:
        """A pattern outside the keys speaks of a part of a group only."""
        return frozenset(p for p in punctuations if confined(p, self.keys))

    def pass_(self, state: State) -> Rows:
        (held,) = state
        if self.changes:
            return ()
        return tuple(self.finished(group) for group in set_match_rows(held.rows, self.closing(held.punctuations)))

    def keep(self, state: State) -> State:
        (held,) = state
        return (Slice(set_nomatch_rows(held.rows, self.closing(held.punctuations)), held.punctuations),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return self.closing(kept[0].punctuations)


def came(group: Row, aggregate: Aggregate) -> tuple[Arguments, ...]:
    """The arguments of the rows of a group so far."""
    return cast(tuple[Arguments, ...], group[aggregate.result.name])


def arguments(row: Row, aggregate: Aggregate) -> Arguments:
    return tuple(row[name] for name in aggregate.arguments)
