"""Projection. emit: all rows; pass on: the ps whose patterns are all on columns that survive; keep: nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from caesura.operators.closed import NOTHING
from caesura.operators.operator import Changes, Flow, State, StateTable
from caesura.operators.rows import Rows


@dataclass(frozen=True)
class Project:
    outputs: Mapping[str, str]
    """Output column → Spark SQL over the input's columns."""
    renames: tuple[Mapping[str, str], ...]
    """Input column → an output column that carries it unchanged. Where one is carried twice, the second mapping
    has its second name, so that punctuations are passed on under both."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return ()

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        return None if source.rows is None else source.rows.project(self.outputs)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        return {}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        new = reduce(or_, (source.new.renamed(names) for names in self.renames), NOTHING)
        before = reduce(or_, (source.before.renamed(names) for names in self.renames), NOTHING)
        return Flow(new=new, before=before), {}
