"""Projection: columns renamed, dropped and computed. Duplicates stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from caesura.model.operator import Row, Rows, Slice, State
from caesura.punctuation import Punctuation, confined, rename

Source: TypeAlias = str | Callable[[Row], object]  # an input column unchanged, or computed from the row


@dataclass(frozen=True)
class Project:
    """pass: all rows. prop: punctuations confined to the columns that survive unchanged. keep: nothing."""

    outputs: tuple[tuple[str, Source], ...]

    @cached_property
    def renames(self) -> dict[str, str]:
        """Input column → the output column that carries it (the first, if several do)."""
        renames: dict[str, str] = {}
        for name, source in self.outputs:
            if isinstance(source, str):
                renames.setdefault(source, name)
        return renames

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        projected = tuple(self.projected(row) for row in arrived.rows)
        return projected, (Slice((), held.punctuations | arrived.punctuations),)

    def projected(self, row: Row) -> Row:
        return Row.of({name: row[s] if isinstance(s, str) else s(row) for name, s in self.outputs})

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        return state

    def prop(self, kept: State) -> frozenset[Punctuation]:
        surviving = (rename(p, self.renames) for p in kept[0].punctuations if confined(p, self.renames))
        return frozenset(p for p in surviving if p is not None)
