"""The contract of a stream: its promises, and the punctuations that hold it to them from slice to slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TypeAlias, TypeVar

from caesura.catalog import (
    ClosedBy,
    ClusteredBy,
    CompleteBy,
    Interval,
    OrderedBy,
    Promise,
    PunctuatedBy,
    Stream,
    Unique,
)
from caesura.checkpoint.manifest import Promised
from caesura.operators.closed import NOTHING, Attributes, Closed, in_order
from caesura.operators.expiring import Expiring
from caesura.operators.intervals import Span, number
from caesura.operators.operator import Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, text
from caesura.operators.store import Store
from caesura.spark.clusters import Clusters
from caesura.spark.completion import Completion
from caesura.spark.punctuations import Reader
from caesura.types import Type

_P = TypeVar("_P", bound=Promise)

Said: TypeAlias = Mapping[Interval | None, Closed]
"""Punctuations by the length of time for which they hold; None is for ever."""


def all_said(said: Said) -> Closed:
    return reduce(Closed.__or__, said.values(), NOTHING)


@dataclass(frozen=True)
class Past:
    """What a stream has promised before a slice, as far as it holds when the slice comes."""

    closed: Closed
    promised: Promised
    time: int
    """When the slice came, in microseconds."""


@dataclass(frozen=True)
class Source:
    """What a stream gives in a slice, and what has to be known of it later: scalars, and rows of state tables."""

    flow: Flow
    promised: Promised
    changes: Changes


@dataclass(frozen=True)
class Contract:
    stream: Stream
    store: Store
    """The punctuations that hold for ever."""
    listings: Mapping[str, Rows] = field(default_factory=dict)
    """The tables that COMPLETE BY names."""

    @cached_property
    def reader(self) -> Reader:
        return Reader({column.name: column.type for column in self.stream.columns}, self.store.keys)

    @cached_property
    def unique(self) -> tuple[Unique, ...]:
        return self._promises(Unique)

    @cached_property
    def ordered(self) -> tuple[OrderedBy, ...]:
        return self._promises(OrderedBy)

    @cached_property
    def ending(self) -> tuple[ClosedBy, ...]:
        return self._promises(ClosedBy)

    @cached_property
    def clusters(self) -> Mapping[ClusteredBy, Clusters]:
        return {
            promise: Clusters(self.stream.name, self.key(promise.columns), self.store.types)
            for promise in self._promises(ClusteredBy)
        }

    @cached_property
    def completions(self) -> Mapping[CompleteBy, Completion]:
        return {
            promise: Completion(
                self.key(promise.columns), self.key(promise.per), self._parts(promise), self.store.types
            )
            for promise in self._promises(CompleteBy)
        }

    @cached_property
    def expiring(self) -> Mapping[Interval, Expiring]:
        """The punctuations that do not hold for ever. Of an order there is only the last bound, a scalar."""
        keys: dict[Interval, dict[Attributes, None]] = {}
        for promise in self.stream.promises:
            if promise.lifespan is not None and not isinstance(promise, OrderedBy):
                keys.setdefault(promise.lifespan, {})[self.key(promise.columns)] = None
        name = f"{self.stream.name}: closed for"
        return {
            life: Expiring(f"{name} {life.sql}", self.store.types, tuple(mine), life.microseconds)
            for life, mine in keys.items()
        }

    def run_key(self, unique: Unique) -> tuple[str, Type] | None:
        """The column, as SQL, and its type, if keys may be known as a run: one column, closed for ever."""
        column, type = unique.columns[0], self.store.types[unique.columns[0]]
        runs = len(unique.columns) == 1 and unique.lifespan is None and type.enumerable
        return (quote(column), type) if runs else None

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """The columns on which keys are closed one by one, if they are enumerable, and the number of a value."""
        types = {key[0]: self.store.types[key[0]] for key in self.store.keys if len(key) == 1}
        return {column: number(quote(column), type) for column, type in types.items() if type.enumerable}

    @property
    def tables(self) -> tuple[StateTable, ...]:
        """What it remembers besides the store."""
        expiring = (table for each in self.expiring.values() for table in each.tables)
        return (*(each.table for each in self.clusters.values()), *expiring)

    @cached_property
    def timed_by(self) -> OrderedBy | None:
        """The order that gives the stream a time of its own."""
        return next((each for each in self.ordered if each.column == self.stream.time), None)

    @cached_property
    def in_band(self) -> Mapping[Attributes, Interval | None]:
        """How long a punctuation of the source holds that restricts these; of two promises the longer."""
        lives: dict[Attributes, list[Interval | None]] = {}
        for promise in self._promises(PunctuatedBy):
            lives.setdefault(self.key(promise.columns), []).append(promise.lifespan)
        return {key: _longest(several) for key, several in lives.items()}

    def key(self, columns: Iterable[str]) -> Attributes:
        return in_order(self.store.types, columns)

    def past(self, state: State, promised: Promised, time: int) -> Past:
        """What holds in a slice that comes at this time.

        Lifespans are measured by how far the stream itself has come, if it is ordered by a time, else by when its
        slices come (decision 0011).
        """
        now = time if self.timed_by is None else promised.time
        age = 0 if now is None or promised.time is None else now - promised.time
        over = {o.column for o in self.ordered if o.lifespan is not None and age >= o.lifespan.microseconds}
        holding = replace(promised, bounds={name: b for name, b in promised.bounds.items() if name not in over})
        expiring = (each.read(state, now) for each in self.expiring.values())
        tables = reduce(Closed.__or__, expiring, self.store.read(state))
        closed = tables | self.below(holding.bounds) | Closed(everything=holding.everything)
        return Past(closed, holding, time)

    def idle(self, promised: Promised, time: int) -> bool:
        """Whether it has been silent for so long that nobody waits for it any more."""
        if self.timed_by is None or self.timed_by.idle is None or promised.seen is None:
            return False
        return time - promised.seen >= self.timed_by.idle.microseconds

    def below(self, bounds: Mapping[str, str]) -> Closed:
        """What the bounds of ordered columns close."""
        spans: dict[str, tuple[Span, ...]] = {}
        for ordered in self.ordered:
            if (bound := bounds.get(ordered.column)) is not None:
                type = self.store.types[ordered.column].sql
                spans[ordered.column] = (Span(type, None, self.literal(ordered, bound), high_open=True),)
        return Closed(spans=spans)

    def literal(self, ordered: OrderedBy, bound: str) -> str:
        """A bound as SQL; a date less some hours is a timestamp."""
        type = self.store.types[ordered.column].sql
        return f"CAST({text(bound)} AS {'TIMESTAMP' if type == 'DATE' and ordered.slack is not None else type})"

    def silent(self, state: State, past: Past, *, end: bool) -> Source:
        """A slice that brings nothing; `end`: it ends the stream, if it has not ended before."""
        said: Said = {None: Closed(everything=True)} if end and not past.closed.everything else {}
        flow = Flow(new=all_said(said), before=past.closed)
        seen = past.time if past.promised.seen is None else past.promised.seen
        promised = replace(past.promised, everything=flow.closed.everything, seen=seen)
        return Source(flow, promised, self.remember(state, said, None, past.promised, promised))

    def remember(
        self, state: State, said: Said, rows: Rows | None, before: Promised, promised: Promised
    ) -> Changes:
        """What a slice said and brought, as far as later ones have to know; what is `promised` since is known
        anyway."""
        first = before.time is None and promised.time is not None
        if promised.everything:
            changes = dict(self.store.replace(state, NOTHING))  # that it has ended contains all else
        else:
            changes = dict(self.store.append(state, said.get(None, NOTHING).in_runs()))
        for life, expiring in self.expiring.items():
            changes |= expiring.append(state, said.get(life, NOTHING), promised.time, first=first)
        for clusters in self.clusters.values():
            changes |= clusters.keep(state, rows)
        return changes

    def _promises(self, kind: type[_P]) -> tuple[_P, ...]:
        return tuple(promise for promise in self.stream.promises if isinstance(promise, kind))

    def _parts(self, promise: CompleteBy) -> Rows:
        """The parts that the table lists, each once, in the types of the stream. NULL is no part."""
        table = self.listings[promise.table]
        spelled = {column.lower(): column for column in table.columns}
        types = self.store.types
        parts = {s: f"CAST({quote(spelled[s.lower()])} AS {types[s]})" for s in self.key(promise.per)}
        return table.project(parts).present(parts).distinct()


def _longest(lives: Iterable[Interval | None]) -> Interval | None:
    several = list(lives)
    known = [life for life in several if life is not None]
    return max(known, key=lambda life: life.microseconds) if len(known) == len(several) else None
