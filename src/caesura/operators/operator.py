"""The shape of an operator over slices, and what the driver hands to it.

An operator is a frozen dataclass of its parameters. For every slice the driver calls `step`, `pass_`, `keep` and
`prop`, in this order. `pass_` comes before `keep`, which may purge what is to be released; `prop` comes last,
because a join may pass a punctuation on only when no matching row is left in its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol, TypeAlias

from pyspark import StorageLevel
from pyspark.sql import SparkSession

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Closed
from caesura.operators.intervals import Run, Stretch
from caesura.operators.plans import Table
from caesura.operators.rows import Rows, leaf, made, union
from caesura.types import Type

Holds: TypeAlias = Literal["rows", "punctuations"]


@dataclass(frozen=True)
class Flow:
    """What a node gives its readers in one slice.

    `new` are the punctuations of this slice. `before` are the earlier ones; only operators that asked for the
    history of an input find it there. A relation that never changes is `finite`, and also a stream that brought
    all its rows in the first slice.
    """

    rows: Rows | None = None
    new: Closed = NOTHING
    before: Closed = NOTHING
    finite: Rows | None = None

    @property
    def closed(self) -> Closed:
        return self.before | self.new

    def only(self, columns: Iterable[str]) -> Flow:
        """The same with these columns of its rows."""
        names = tuple(columns)
        rows, finite = (None if each is None else each.only(names) for each in (self.rows, self.finite))
        return replace(self, rows=rows, finite=finite)


def all_end(flows: Iterable[Flow]) -> Closed:
    """That nothing comes any more, in the slice in which the last of them ends."""
    several = list(flows)
    now = all(flow.closed.everything for flow in several) and not all(flow.before.everything for flow in several)
    return Closed(everything=True) if now else NOTHING


@dataclass(frozen=True)
class StateTable:
    """A named table of an operator's state; `holds` says what its rows are counted as."""

    name: str
    columns: tuple[Column, ...]
    holds: Holds = "rows"
    intervals_of: tuple[str, Type] | None = None
    """In a table of intervals: their attribute. The driver is to know the longest."""
    eager: bool = False
    """Whether every slice writes it anew, however large it is."""
    piecewise: bool = False
    """Whether each row stays or goes by itself, so that a piece of it can be written anew without the rest."""


@dataclass(frozen=True)
class Held:
    """What a state table holds before the slice; `rewrite`: this slice writes it anew instead of appending."""

    rows: Rows | None = None
    rewrite: bool = True
    due: Rows | None = None
    """A piece that this slice writes anew although it appends: who changes the table sees to it."""
    rest: Rows | None = None
    """What is not due."""
    compact: bool = True
    """Whether it was written anew by the last slice that changed it: writing it once more would change nothing."""
    spans: tuple[Stretch, ...] = ()
    """In a table of intervals: the longest, which the driver knows."""
    wide_known: bool = False
    """Whether all intervals that are too long to be read as points are among `spans`."""
    runs: tuple[Run, ...] | None = None
    """In a table of intervals of an enumerable type: all of them, if the driver knows all."""


@dataclass(frozen=True)
class Change:
    """What a slice writes to a state table: its whole content, or rows to append, among which are those that stay
    of the piece that was due."""

    rows: Rows | None
    rewrite: bool
    runs: tuple[Run, ...] | None = None
    """The rows, if they are intervals that the driver knows."""


Changes = Mapping[str, Change]


@dataclass(frozen=True)
class State:
    """The state tables of a pipeline as one slice sees them."""

    spark: SparkSession
    tables: Mapping[str, Held] = field(default_factory=dict)
    shared: dict[str, Rows] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Held:
        return self.tables.get(name, Held())

    def after(self, name: str, changes: Changes) -> Rows | None:
        """What a table holds after the slice."""
        held, change = self[name], changes.get(name)
        if change is None:
            return held.rows
        if change.rewrite:
            return change.rows
        return union((held.rows if held.due is None else held.rest, change.rows))

    def share(self, name: str, rows: Rows) -> Rows:
        """A table that several jobs of the slice read: computed once, forgotten at its end."""
        if name not in self.shared:
            shared = made(rows.columns, lambda: rows.frame(self.spark).persist(StorageLevel.MEMORY_AND_DISK))
            self.shared[name] = replace(shared, small=rows.small, ranges=rows.ranges)
        return self.shared[name]

    def stage(self, name: str, rows: Rows) -> Rows:
        """A table that is computed at once: whoever reads it is planned by its size."""
        if name not in self.shared:
            frame = rows.frame(self.spark).persist(StorageLevel.MEMORY_AND_DISK)
            frame.count()
            self.shared[name] = replace(leaf(frame), ranges=rows.ranges)
        return self.shared[name]

    def forget(self) -> None:
        for rows in self.shared.values():
            if isinstance(rows.leaf, Table):
                rows.leaf.forget()
        self.shared.clear()


class Operator(Protocol):
    prompt: ClassVar[bool]
    """Whether its result rows do not depend on what a slice closes: no punctuation releases or withholds one."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        """The state tables it needs; their names are unique in the pipeline."""

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The result rows that the slice's new rows produce."""

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The result rows that punctuations now release."""

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        """What must stay; everything else is purged."""

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        """The punctuations passed on (a flow without rows), and what must be remembered for that."""


class Stateless:
    """What an operator that keeps nothing does in the slice's later steps."""

    prompt: ClassVar[bool] = True

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return ()

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        return {}
