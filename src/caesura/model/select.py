"""Selection: rows that satisfy a predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caesura.model.operator import Predicate, Rows, Slice, State
from caesura.punctuation import Punctuation


@dataclass(frozen=True)
class Select:
    """pass: the rows that satisfy the predicate. prop: all punctuations, and from the start the complement of the
    predicate. keep: nothing.

    `excluded` is the complement as far as patterns can tell it (`safety/complement.py`).
    """

    predicate: Predicate
    excluded: frozenset[Punctuation] = frozenset()

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        satisfying = tuple(row for row in arrived.rows if self.predicate(row) is True)
        return satisfying, (Slice((), held.punctuations | arrived.punctuations),)

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        return state

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations | self.excluded
