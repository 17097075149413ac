"""Punctuations that hold for a while (LIFESPAN): each is kept with the time it came at, and then forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from caesura.catalog import Column
from caesura.operators.closed import Attributes, Closed, as_data
from caesura.operators.intervals import interval_type
from caesura.operators.operator import Change, Changes, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.types import BIGINT, Type

_SINCE = "holds since"


@dataclass(frozen=True)
class Expiring:
    """One table of points per attribute set in `keys`, and one of boxes for all else.

    Times are in microseconds. A stream may send a punctuation before it has a time: its age counts from the first
    time there is.
    """

    name: str
    types: Mapping[str, Type]
    keys: tuple[Attributes, ...]
    lifespan: int

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (*self._points.values(), self._boxes)

    @cached_property
    def _points(self) -> Mapping[Attributes, StateTable]:
        return {
            key: self._table(f"({', '.join(key)})", tuple(Column(name, self.types[name]) for name in key))
            for key in self.keys
        }

    @cached_property
    def _boxes(self) -> StateTable:
        patterns = (Column(name, Type(interval_type(type.sql))) for name, type in self.types.items())
        return self._table(" otherwise", tuple(patterns))

    def _table(self, what: str, columns: tuple[Column, ...]) -> StateTable:
        return StateTable(f"{self.name}{what}", (*columns, Column(_SINCE, BIGINT)), "punctuations")

    def read(self, state: State, now: int | None) -> Closed:
        """Those that hold at this time."""
        points = {
            key: rows.only(key)
            for key, table in self._points.items()
            if (rows := self._alive(state[table.name].rows, now)) is not None
        }
        boxes = self._alive(state[self._boxes.name].rows, now)
        return Closed(points, None if boxes is None else boxes.without(_SINCE))

    def append(self, state: State, new: Closed, now: int | None, *, first: bool) -> Changes:
        """Remember more, as of now. One that comes again starts anew. `first`: before there was no time, and what
        came then is as old as what comes now."""
        new = as_data(new, {name: type.sql for name, type in self.types.items()})
        added = {table: new.points.get(key) for key, table in self._points.items()} | {self._boxes: new.boxes}
        changes: dict[str, Change] = {}
        for table, rows in added.items():
            held = state[table.name]
            if rows is None and held.compact and not first:
                continue
            stamped = None if rows is None else rows.extended({_SINCE: _literal(now)})
            rewrite = held.rewrite or first
            if rewrite and (all_ := union((self._alive(held.rows, now), stamped))) is not None:
                key = [column.name for column in table.columns if column.name != _SINCE]
                newest = f"max(coalesce({quote(_SINCE)}, {_literal(now)}))"
                stamped = all_.grouped(key, {_SINCE: newest})
            changes[table.name] = Change(stamped, rewrite)
        return changes

    def _alive(self, rows: Rows | None, now: int | None) -> Rows | None:
        if rows is None or now is None:
            return rows
        since = quote(_SINCE)
        return rows.where(f"{since} IS NULL OR {since} > {now - self.lifespan}")


def _literal(time: int | None) -> str:
    return f"CAST({'NULL' if time is None else time} AS BIGINT)"
