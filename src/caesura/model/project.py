"""Projection: columns renamed, dropped and computed. Duplicates stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias

from caesura.model.operator import Row, Rows, Slice, State
from caesura.punctuation import Punctuation, confined

Source: TypeAlias = str | Callable[[Row], object]  # an input column unchanged, or computed from the row


@dataclass(frozen=True)
class Project:
    """pass: all rows. prop: punctuations confined to the columns that survive unchanged. keep: nothing."""

    outputs: tuple[tuple[str, Source], ...]

    @cached_property
    def copies(self) -> dict[str, tuple[str, ...]]:
        """Input column → all the output columns that carry it unchanged."""
        copies: dict[str, tuple[str, ...]] = {}
        for name, source in self.outputs:
            if isinstance(source, str):
                copies[source] = (*copies.get(source, ()), name)
        return copies

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
        surviving = (p for p in kept[0].punctuations if confined(p, self.copies))
        return frozenset(renamed for p in surviving for renamed in self.renamed(p))

    def renamed(self, p: Punctuation) -> Iterator[Punctuation]:
        """Under all its new names."""
        choices = ([(copy, pattern) for copy in self.copies[name]] for name, pattern in p.patterns)
        return map(Punctuation, product(*choices))
