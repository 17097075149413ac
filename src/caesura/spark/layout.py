"""How the rows of state tables look in files.

All tables are written as one union, in which a row has NULL in every column that its table lacks. That is work for
each row, so tables share columns wherever types agree, and an interval is two ends where both are always included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from caesura.operators.operator import StateTable
from caesura.operators.rows import Rows, quote

_NO_COLUMN = {"row": "CAST(NULL AS STRING)"}
"""Files need a column; a grouping without keys may have a table without."""


@dataclass(frozen=True)
class Layout:
    written: Mapping[str, Mapping[str, str]]
    """By column of the table: columns of the files → SQL over it."""
    read: Mapping[str, str]
    """Column of the table → SQL over the columns of the files."""
    schema: str
    """Of the files."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the files."""
        return tuple(name for each in self.written.values() for name in each) or tuple(_NO_COLUMN)

    def as_written(self, rows: Rows, more: Mapping[str, str]) -> Rows:
        """With more columns, which are the same for all rows of the table or speak of its own."""
        columns = {name: sql for column in rows.columns for name, sql in self.written[column].items()}
        return rows.project({**more, **(columns or _NO_COLUMN)})

    def as_read(self, files: Rows) -> Rows:
        return files.project(self.read)


def shared_layout(table: StateTable) -> Layout:
    """With columns that other tables have, too."""
    numbers = Counter[str]()
    types: dict[str, str] = {}

    def place(type: str) -> str:
        kind = type.lower()  # as names of columns are compared
        name = f"{kind} {numbers[kind]}"
        numbers[kind] += 1
        types[name] = type
        return name

    written: dict[str, Mapping[str, str]] = {}
    read: dict[str, str] = {}
    for column in table.columns:
        if table.intervals_of is not None and table.intervals_of[1].enumerable:
            ends = {end: place(table.intervals_of[1].sql) for end in ("low", "high")}
            written[column.name] = {name: f"{quote(column.name)}.{end}" for end, name in ends.items()}
            both = ", ".join(f"{quote(name)} AS {end}" for end, name in ends.items())
            read[column.name] = f"struct({both}, false AS low_open, false AS high_open)"
        else:
            name = place(column.type.sql)
            written[column.name], read[column.name] = {name: quote(column.name)}, quote(name)
    return Layout(written, read, _schema(types))


def own_layout(table: StateTable) -> Layout:
    """Of a table whose files anyone may read: with its own columns."""
    names = [column.name for column in table.columns]
    written = {name: {name: quote(name)} for name in names}
    schema = _schema({column.name: column.type.sql for column in table.columns})
    return Layout(written, {name: quote(name) for name in names}, schema)


def _schema(types: Mapping[str, str]) -> str:
    return ", ".join(f"{quote(name)} {type}" for name, type in types.items()) or f"{next(iter(_NO_COLUMN))} STRING"
