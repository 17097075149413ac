"""A short name for what a query keeps in a checkpoint; and where its results go.

It is the same however the query is written: white space, comments, aliases and hints do not matter, nor do options
that change how fast something is read, how it is written, or who may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256

from sqlglot import exp

from caesura.catalog import Catalog, Column, CompleteBy, Origin, Sink, Stream
from caesura.expression import sql
from caesura.plan import (
    Aggregate,
    Equality,
    Frame,
    Framed,
    Group,
    Join,
    Output,
    Query,
    Rank,
    Scan,
    Session,
    SortKey,
    walk,
)
from caesura.sql.secrets import is_secret, masked

_HINTS = {"shape", "demand"}
_COLUMNS: dict[type, tuple[str, ...]] = {
    Column: ("name",),
    Output: ("name",),
    Equality: ("left", "right"),
    Group: ("keys",),
    Session: ("time", "keys"),
    Aggregate: ("arguments",),
    Rank: ("partition",),
    Frame: ("partition",),
    Framed: ("arguments",),
    SortKey: ("column",),
}
"""The parts of plans that name columns. Any other text means what it says."""
_PACE = {
    "maxfilespertrigger",
    "maxbytespertrigger",
    "maxoffsetspertrigger",
    "minoffsetspertrigger",
    "maxtriggerdelay",
}


def fingerprint(query: Query, catalog: Catalog) -> str:
    """`catalog`: for the tables by which streams are complete."""
    scans = (node.relation for node in walk(query.plan) if isinstance(node, Scan))
    promises = [each for relation in scans if isinstance(relation, Stream) for each in relation.promises]
    lists = [_text(catalog[each.table]) for each in promises if isinstance(each, CompleteBy)]
    shown = [(column.name, column.type) for column in query.plan.columns]
    text = f"{_Names().text(query.plan)} {shown} {lists}"
    return sha256(text.encode()).hexdigest()[:16]


def place(sink: Sink | None) -> str:
    """Where results go, in words: what was staged there is published there."""
    if sink is None:
        return ""
    options = {name.lower(): masked(name, value) for name, value in sink.origin.options}
    where = (sink.origin.location, *(options.get(name) for name in ("url", "dbtable", "path", "topic")))
    return " ".join((sink.origin.format.lower(), *(each for each in where if each)))


class _Names:
    """Columns are called by the order in which a plan comes to them, so that an alias does not show."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def text(self, value: object) -> str:
        match value:
            case Scan():
                columns = [self._name(column.name) for column in value.columns]
                return f"Scan({_text(value.relation)}, {_text(value.window)}, {columns})"
            case exp.Expr():
                return sql(value.transform(self._renamed))
            case tuple():
                return f"({', '.join(map(self.text, value))})"
        if is_dataclass(value):
            parts = (f"{name}={self._part(value, name, each)}" for name, each in _parts(value))
            return f"{type(value).__name__}({', '.join(parts)})"
        return repr(value)

    def _part(self, of: object, name: str, value: object) -> str:
        if name not in _COLUMNS.get(type(of), ()):
            return self.text(value)
        match value:
            case str():
                return self._name(value)
            case tuple():
                return str([self._name(each) for each in value])
        return repr(value)

    def _name(self, column: str) -> str:
        return f"#{self._numbers.setdefault(column, len(self._numbers))}"

    def _renamed(self, node: exp.Expr) -> exp.Expr:
        return exp.column(self._name(node.name), quoted=True) if isinstance(node, exp.Column) else node


def _parts(value: object) -> Iterator[tuple[str, object]]:
    for each in fields(value):  # type: ignore[arg-type]
        if each.compare and not (isinstance(value, Join) and each.name in _HINTS):
            yield each.name, getattr(value, each.name)


def _text(value: object) -> str:
    """Of what is declared, in which names matter."""
    match value:
        case Origin():
            options = sorted((name.lower(), masked(name, given)) for name, given in value.options)
            lasting = [each for each in options if each[0] not in _PACE and not is_secret(each[0])]
            return repr((value.format.lower(), masked("", value.location or ""), lasting))
        case exp.Expr():
            return sql(value)
        case tuple():
            return f"({', '.join(map(_text, value))})"
    if is_dataclass(value):
        return f"{type(value).__name__}({', '.join(f'{name}={_text(each)}' for name, each in _parts(value))})"
    return repr(value)
