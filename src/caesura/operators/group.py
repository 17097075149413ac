"""Group-by with partial aggregates.

emit: the result of each group that some p confined to the grouping attributes matches or, for EMIT CHANGES,
of each group that the slice's rows changed; pass on: those p; keep: the partial aggregates of the groups not yet
matched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union, values
from caesura.operators.store import Store, passed_on

Half: TypeAlias = Callable[[Rows | None, Closed], Rows | None]


@dataclass(frozen=True)
class Partial:
    """A column of partial aggregates: how a slice's rows give it, and how two of them become one."""

    column: Column
    from_rows: str
    merge: str


@dataclass(frozen=True)
class Panes:
    """Of a key that is the start of time buckets which overlap: instead of it, rows come with the pane that they
    are in, a piece of time that no bucket begins or ends within. So a row is grouped once, and a pane is put into
    each of its buckets."""

    key: str
    starts: str
    """The starts of all buckets that a pane is in, as SQL over it; a row for each."""


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
    light: bool = False
    """Whether its input takes no more than reading a source, so that two jobs may each read their part."""
    panes: Panes | None = None

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table, *self.released.tables, *(self.passed.tables if self.passed else ()))

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        new = self._new(state, inputs)
        if not self.changes or new is None:
            return None
        partials = union((self._held(state), new))
        return None if partials is None else self._finished(self._merged(partials.alike(new, self.keys)))

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        if not self._closing(inputs) or self.changes:
            return None
        complete = self._half(covered, state, inputs, self._held(state))
        return None if complete is None else self._finished(self._merged(complete))

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        closing = self._closing(inputs)
        if state[self.table.name].rewrite or closing.everything:
            rest = self._half(uncovered, state, inputs, self._held(state))
            merged = None if rest is None else self._merged(rest)
            # The one group of a global aggregate exists without rows: that it was emitted must not be forgotten.
            released = self.released.replace(state, NOTHING) if self.keys else self.released.append(state, closing)
            return {self.table.name: Change(merged, rewrite=True), **released}
        added = self._half(uncovered, state, inputs)
        return {self.table.name: Change(added, rewrite=False), **self.released.append(state, closing)}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        new = self._closing(inputs)
        return passed_on(new, self.passed, state)

    def _closing(self, inputs: tuple[Flow, ...]) -> Closed:
        (source,) = inputs
        return source.new.confined(self.keys)

    def _half(self, half: Half, state: State, inputs: tuple[Flow, ...], held: Rows | None = None) -> Rows | None:
        """Partial aggregates of the groups that the slice closes, or of the others; a group may have several."""
        closing = self._closing(inputs)
        if closing.at_hand and self.light and self.panes is None and not self.changes:
            new = self._grouped(half(inputs[0].rows, closing))
        else:
            new = half(self._new(state, inputs), closing)
        return union((half(held, closing), new))

    def _new(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The slice's rows, aggregated: one row per group that occurs in it. If some groups are closed and others
        not, or both come out and stay, two jobs read them."""
        closing, new = self._closing(inputs), self._grouped(inputs[0].rows)
        once = not self.changes and (not closing or closing.everything)
        return new if once or new is None else state.share(f"new {self.table.name}", new)

    def _grouped(self, rows: Rows | None) -> Rows | None:
        if rows is None:
            return None
        grouped = rows.grouped(self.keys, {p.column.name: p.from_rows for p in self.partials})
        if self.panes is None:
            return grouped
        columns = {name: quote(name) for name in grouped.columns}
        return self._merged(grouped.project({**columns, self.panes.key: self.panes.starts}))

    def _held(self, state: State) -> Rows | None:
        """Partial aggregates of the groups not yet emitted before the slice."""
        always = None if self.keys else self._no_rows()
        return uncovered(union((state[self.table.name].rows, always)), self.released.read(state))

    def _merged(self, partials: Rows) -> Rows:
        return partials.grouped(self.keys, {p.column.name: p.merge for p in self.partials})

    def _finished(self, merged: Rows) -> Rows:
        return merged.project({**{key: quote(key) for key in self.keys}, **self.results})

    def _no_rows(self) -> Rows:
        """Without GROUP BY there is one group from the start, empty."""
        return values({p.column.name: f"CAST(NULL AS {p.column.type})" for p in self.partials})
