"""A short name for what a query keeps in a checkpoint, and where its results go.

It is the same however the query is written: white space, comments, aliases and hints do not matter, nor do options
that change how fast something is read, how it is written, or who may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256

from sqlglot import exp

from caesura.catalog import Origin
from caesura.plan import Join, Plan, Query, Scan, walk
from caesura.sql.secrets import is_secret

_HINTS = {"shape", "demand"}
_PACE = {
    "maxfilespertrigger",
    "maxbytespertrigger",
    "maxoffsetspertrigger",
    "minoffsetspertrigger",
    "maxtriggerdelay",
}


def fingerprint(query: Query) -> str:
    text = f"{_Names(query.plan).text(query.plan)} {_shown(query)} {_sink(query)}"
    return sha256(text.encode()).hexdigest()[:16]


def _shown(query: Query) -> str:
    return repr([(column.name, column.type) for column in query.plan.columns])


def _sink(query: Query) -> str:
    """Where results go: what was staged there is published there."""
    if query.sink is None:
        return ""
    origin = query.sink.origin
    options = {name.lower(): value for name, value in origin.options}
    database = re.split("[?;]", options.get("url", ""))[0], options.get("dbtable")
    return repr((origin.format.lower(), origin.location, database if origin.format.lower() == "jdbc" else None))


class _Names:
    """Columns are called by the order in which a plan comes to them, so that an alias does not show."""

    def __init__(self, plan: Plan) -> None:
        self._columns = {column.name for node in walk(plan) for column in node.columns}
        self._numbers: dict[str, int] = {}

    def text(self, value: object) -> str:
        match value:
            case Scan():
                columns = [self.text(column.name) for column in value.columns]
                return f"Scan({_text(value.relation)}, {_text(value.window)}, {columns})"
            case exp.Expr():
                return value.transform(self._renamed).sql(dialect="spark", comments=False)
            case str() if value in self._columns:
                return f"#{self._numbers.setdefault(value, len(self._numbers))}"
            case tuple():
                return f"({', '.join(map(self.text, value))})"
            case frozenset():
                return f"{{{', '.join(sorted(map(self.text, value)))}}}"
        if is_dataclass(value):
            parts = (f"{name}={self.text(each)}" for name, each in _parts(value))
            return f"{type(value).__name__}({', '.join(parts)})"
        return repr(value)

    def _renamed(self, node: exp.Expr) -> exp.Expr:
        return exp.column(self.text(node.name), quoted=True) if isinstance(node, exp.Column) else node


def _parts(value: object) -> Iterator[tuple[str, object]]:
    for each in fields(value):  # type: ignore[arg-type]
        if each.compare and not (isinstance(value, Join) and each.name in _HINTS):
            yield each.name, getattr(value, each.name)


def _text(value: object) -> str:
    """Of what is declared, in which names matter."""
    match value:
        case Origin():
            options = sorted((name.lower(), given) for name, given in value.options)
            lasting = [each for each in options if each[0] not in _PACE and not is_secret(each[0])]
            return repr((value.format.lower(), value.location, lasting))
        case exp.Expr():
            return value.sql(dialect="spark", comments=False)
        case tuple():
            return f"({', '.join(map(_text, value))})"
    if is_dataclass(value):
        return f"{type(value).__name__}({', '.join(f'{name}={_text(each)}' for name, each in _parts(value))})"
    return repr(value)
