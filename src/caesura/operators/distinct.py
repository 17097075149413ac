"""Duplicate elimination. emit: the first occurrence of a row; pass on: ps; keep: the rows that match no ps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from caesura.operators.closed import NOTHING, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, union
from caesura.operators.store import Store


@dataclass(frozen=True)
class Distinct:
    prompt: ClassVar[bool] = True

    table: StateTable
    released: Store
    """The punctuations since the table was last written anew: the rows that they cover cannot come again."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table, *self.released.tables)

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        if source.rows is None:
            return None
        held = state[self.table.name].rows
        first = source.rows.distinct() if held is None else source.rows.beyond(held)
        return state.share(f"new {self.table.name}", first)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        (source,) = inputs
        held, first = state[self.table.name], self.step(state, inputs)
        if not (held.rewrite or source.new.everything):
            added = uncovered(first, source.new)
            return {self.table.name: Change(added, rewrite=False), **self.released.append(state, source.new)}
        open_ = uncovered(held.rows, self.released.read(state))
        rest = uncovered(union((open_, first)), source.new)
        return {self.table.name: Change(rest, rewrite=True), **self.released.replace(state, NOTHING)}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=source.new, before=source.before), {}
