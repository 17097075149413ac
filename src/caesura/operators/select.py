"""Selection. emit: the rows that satisfy the predicate; pass on: ps, and from the start the complement of the
predicate; keep: nothing."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.operators.closed import NOTHING, Closed
from caesura.operators.operator import Changes, Flow, State, Stateless
from caesura.operators.rows import Rows

VALUE = "caesura: value"
"""A column besides those of the plan."""


@dataclass(frozen=True)
class Select(Stateless):
    predicate: str
    excluded: Closed = NOTHING
    """What no row has that satisfies the predicate. It is part of the history, since it was never news."""
    value: str | None = None
    """What the predicate and the only reader find in the column `VALUE`, as SQL over the input's columns."""

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        if source.rows is None:
            return None
        rows = source.rows if self.value is None else source.rows.computing(VALUE, self.value)
        return rows.where(self.predicate)

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=source.new, before=source.before | self.excluded), {}
