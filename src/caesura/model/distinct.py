"""Duplicate elimination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caesura.model.operator import Row, Rows, Slice, State
from caesura.punctuation import Punctuation, rank, set_nomatch_rows


@dataclass(frozen=True)
class Distinct:
    """pass: the first occurrence of a row. keep: the rows that match no ps. prop: ps.

    NULL is a value like any other here, but only the wildcard matches it.
    """

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        first = firsts(held.rows + arrived.rows)[len(held.rows) :]
        return first, (held + Slice(first, arrived.punctuations),)

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        (held,) = state
        return (Slice(set_nomatch_rows(held.rows, held.punctuations), held.punctuations),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations


def firsts(rows: Iterable[Row]) -> Rows:
    """The first of equal rows, in their order."""
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        found.setdefault(identity(row), row)
    return tuple(found.values())


def identity(row: Row) -> tuple[object, ...]:
    """Equal for rows that SQL does not tell apart: as `rank`, but NULL is NULL."""
    return tuple((name, rank(value) or value) for name, value in row.cells)
