"""UNION ALL. emit: all rows; pass on: what every input has closed; keep: nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from caesura.operators.closed import NOTHING
from caesura.operators.combine import Combination
from caesura.operators.operator import Changes, Flow, State, Stateless, StateTable
from caesura.operators.rows import Rows, union
from caesura.operators.store import Store, passed_on


@dataclass(frozen=True)
class Merge(Stateless):
    combination: Combination
    passed: Store | None = None
    """The history of what was passed on, if a reader needs it."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return self.passed.tables if self.passed else ()

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return union(flow.rows for flow in inputs)

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        """Each combination in the slice of its last part: Σₖ before ∧ … ∧ newₖ ∧ … ∧ closed, as of joins."""
        new = NOTHING
        for k, flow in enumerate(inputs):
            others = [*(each.before for each in inputs[:k]), *(each.closed for each in inputs[k + 1 :])]
            if flow.new and all(others):
                new |= reduce(self.combination.of, others, flow.new)
        return passed_on(new, self.passed, state)
