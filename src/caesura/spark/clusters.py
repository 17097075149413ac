"""CLUSTERED BY: rows of one key arrive together, so a key ends when another starts.

Rows of a slice have no order, so it is not known which of its keys came last (decision 0010). The keys that may go
on are those that began in the last slice with rows. A key from before that goes on came first in the slice: if the
slice has other keys too, it has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Attributes, Closed
from caesura.operators.operator import Change, Changes, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.types import Type

_BEFORE, _NOW, _ENDED = "open before", "in the slice", "has ended"


@dataclass(frozen=True)
class Clusters:
    stream: str
    key: Attributes
    types: Mapping[str, Type]

    @cached_property
    def table(self) -> StateTable:
        """The keys that may go on."""
        columns = tuple(Column(name, self.types[name]) for name in self.key)
        return StateTable(f"{self.stream}: open clusters({', '.join(self.key)})", columns, "punctuations")

    def closed(self, state: State, rows: Rows | None) -> Closed:
        """The keys that have ended. NULL is no key."""
        if rows is None or state[self.table.name].rows is None:
            return NOTHING
        return Closed({self.key: self._seen(state, rows).where(quote(_ENDED)).only(self.key)})

    def keep(self, state: State, rows: Rows | None) -> Changes:
        if rows is None:
            return {}
        going_on = self._seen(state, rows).where(f"NOT {quote(_ENDED)}").only(self.key)
        return {self.table.name: Change(going_on, rewrite=True)}

    def _seen(self, state: State, rows: Rows) -> Rows:
        """The keys that were open or occur, and which of them have ended."""
        held = state[self.table.name].rows
        before = None if held is None else held.extended({_BEFORE: "true", _NOW: "false"})
        now = rows.present(self.key).grouped(self.key, {_BEFORE: "false", _NOW: "true"})
        keys = union((before, now))
        assert keys is not None
        started = f"count_if({quote(_NOW)}) OVER ()"
        ended = f"{quote(_BEFORE)} AND {started} > 0 AND NOT ({quote(_NOW)} AND {started} = 1)"
        either = {name: f"bool_or({quote(name)})" for name in (_BEFORE, _NOW)}
        return state.share(self.table.name, keys.grouped(self.key, either).extended({_ENDED: ended}))
