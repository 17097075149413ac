"""Selection. emit: the rows that satisfy the predicate; pass on: ps, and from the start the complement of the
predicate; keep: nothing."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.operators.closed import NOTHING, Closed
from caesura.operators.operator import Changes, Flow, State, StateTable
from caesura.operators.rows import Rows


@dataclass(frozen=True)
class Select:
    predicate: str
    excluded: Closed = NOTHING
    """What no row has that satisfies the predicate. It is part of the history, since it was never news."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return ()

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        return None if source.rows is None else source.rows.where(self.predicate)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        return {}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=source.new, before=source.before | self.excluded), {}
