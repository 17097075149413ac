"""Group-by with partial aggregates.

emit: the result of each group that some p confined to the grouping attributes matches or, for EMIT CHANGES,
of each group that the slice's rows changed; pass on: those p; keep: the partial aggregates of the groups not yet
matched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union, values
from caesura.operators.store import Store, passed_on


@dataclass(frozen=True)
class Partial:
    """A column of partial aggregates: how a slice's rows give it, and how two of them become one."""

    column: Column
    from_rows: str
    merge: str


@dataclass(frozen=True)
class Group:
    prompt: ClassVar[bool] = False

    table: StateTable
    keys: tuple[str, ...]
    partials: tuple[Partial, ...]
    results: Mapping[str, str]
    """Result column → SQL over the merged partials."""
    released: Store
    """The punctuations since the table was last written anew: what they cover has been emitted."""
    passed: Store | None = None
    changes: bool = False
    """EMIT CHANGES."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table, *self.released.tables, *(self.passed.tables if self.passed else ()))

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        new, partials = self._new(state, inputs), self._open(state, inputs)
        if not self.changes or new is None or partials is None:
            return None
        return self._finished(self._merged(partials.alike(new, self.keys)))

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        closing = self._closing(inputs)
        if not closing or self.changes:
            return None
        complete = covered(self._open(state, inputs), closing)
        return None if complete is None else self._finished(self._merged(complete))

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        closing = self._closing(inputs)
        if state[self.table.name].rewrite or closing.everything:
            rest = uncovered(self._open(state, inputs), closing)
            merged = None if rest is None else self._merged(rest)
            # The one group of a global aggregate exists without rows: that it was emitted must not be forgotten.
            released = self.released.replace(state, NOTHING) if self.keys else self.released.append(state, closing)
            return {self.table.name: Change(merged, rewrite=True), **released}
        added = uncovered(self._new(state, inputs), closing)
        return {self.table.name: Change(added, rewrite=False), **self.released.append(state, closing)}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        new = self._closing(inputs)
        return passed_on(new, self.passed, state)

    def _closing(self, inputs: tuple[Flow, ...]) -> Closed:
        (source,) = inputs
        return source.new.confined(self.keys)

    def _new(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The slice's rows, aggregated: one row per group that occurs in it."""
        (source,) = inputs
        if source.rows is None:
            return None
        aggregated = source.rows.grouped(self.keys, {p.column.name: p.from_rows for p in self.partials})
        return state.share(f"new {self.table.name}", aggregated)

    def _open(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """Partial aggregates of the groups not yet emitted; a group may have several."""
        always = None if self.keys else self._no_rows()
        held = uncovered(union((state[self.table.name].rows, always)), self.released.read(state))
        return union((held, self._new(state, inputs)))

    def _merged(self, partials: Rows) -> Rows:
        return partials.grouped(self.keys, {p.column.name: p.merge for p in self.partials})

    def _finished(self, merged: Rows) -> Rows:
        return merged.project({**{key: quote(key) for key in self.keys}, **self.results})

    def _no_rows(self) -> Rows:
        """Without GROUP BY there is one group from the start, empty."""
        return values({p.column.name: f"CAST(NULL AS {p.column.type})" for p in self.partials})
