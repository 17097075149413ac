"""Selection. emit: the rows that satisfy the predicate; pass on: ps, and from the start the complement of the
predicate; keep: nothing."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.operators.closed import NOTHING, Closed
from caesura.operators.operator import Changes, Flow, State, Stateless
from caesura.operators.rows import Rows


@dataclass(frozen=True)
class Select(Stateless):
    predicate: str
    excluded: Closed = NOTHING
    """What no row has that satisfies the predicate. It is part of the history, since it was never news."""

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        return None if source.rows is None else source.rows.where(self.predicate)

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=source.new, before=source.before | self.excluded), {}
