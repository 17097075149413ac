"""Projection. emit: all rows; pass on: the ps whose patterns are all on columns that survive; keep: nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caesura.operators.frames import Frame, quote
from caesura.operators.operator import Changes, Flow, State, StateTable


@dataclass(frozen=True)
class Project:
    outputs: Mapping[str, str]
    """Output column → Spark SQL over the input's columns."""
    renames: Mapping[str, str]
    """Input column → the output column that carries it unchanged."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return ()

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Frame:
        (source,) = inputs
        if source.rows is None:
            return None
        return source.rows.selectExpr(*(f"{sql} AS {quote(name)}" for name, sql in self.outputs.items()))

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Frame:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        return {}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=source.new.renamed(self.renames), before=source.before.renamed(self.renames)), {}
