"""UNION ALL of any number of inputs with the same attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from caesura.model.operator import Rows, Slice, State
from caesura.punctuation import Punctuation, set_combine


@dataclass(frozen=True)
class Merge:
    """pass: all rows. keep: no rows. prop: what all inputs have punctuated, combine(p1, …, pn)."""

    inputs: int

    def initial(self) -> State:
        return tuple(Slice() for _ in range(self.inputs))

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        rows = tuple(row for arrived in new for row in arrived.rows)
        return rows, tuple(
            held + Slice((), arrived.punctuations) for held, arrived in zip(state, new, strict=True)
        )

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        return state

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return reduce(set_combine, (held.punctuations for held in kept))
