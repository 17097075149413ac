"""The longest intervals of a punctuation table, known to the driver.

Closed keys are mostly one long run. Where the driver knows such an interval, "is this row closed?" is a comparison
with a row of a local table, which takes no job to make.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from caesura.operators.closed import Closed
from caesura.operators.intervals import MOST, Run, Span, Stretch, number
from caesura.operators.islands import wide_condition
from caesura.operators.rows import quote, text
from caesura.punctuation import Constant, Pattern, Range, Value
from caesura.types import Type

Known = tuple[tuple[str | None, str | None], ...]
"""Intervals by their ends, both included, as texts that go into the manifest: numbers, if the type is enumerable.
None is no end."""


def wide(attribute: str, type: Type, table: str) -> str:
    """An interval of a table, if it is one that the driver may want to know, as SQL; otherwise NULL."""
    box = quote(attribute)
    closed = f"NOT {box}.low_open AND NOT {box}.high_open"
    low, high = (number(f"{box}.{end}", type) if type.enumerable else f"{box}.{end}" for end in ("low", "high"))
    ends = f"CAST({low} AS STRING) AS low, CAST({high} AS STRING) AS high"
    width = f"CAST({high} AS DECIMAL(21, 0)) - {low}" if type.enumerable else "NULL"
    found = f"struct(CAST({width} AS DECIMAL(22, 0)) AS width, {ends}, {text(table)} AS table)"
    return f"IF({closed} AND {wide_condition(box, type)}, {found}, NULL)"


def longest(column: str, table: str) -> str:
    """An aggregate that finds those of a table with the most values, as JSON. It looks at the rows of all tables,
    so what it looks at is worked out before."""
    mine = f"filter(collect_list({quote(column)}), each -> each.table = {text(table)})"
    return f"to_json(slice(sort_array({mine}, false), 1, {MOST}))"


def read(found: str) -> Known:
    return tuple((span.get("low"), span.get("high")) for span in json.loads(found))


def written(runs: Iterable[Run]) -> Known:
    def text(end: int | None) -> str | None:
        return None if end is None else str(end)

    return tuple((text(run.first), text(run.last)) for run in runs)


def runs(known: Known, type: Type) -> tuple[Run, ...]:
    """Of an enumerable type."""
    return tuple(Run(type, *(None if end is None else int(end) for end in ends)) for ends in known)


def intervals(known: Known, type: Type) -> tuple[Stretch, ...]:
    if type.enumerable:
        return runs(known, type)
    return tuple(Span(type.sql, _literal(low, type), _literal(high, type)) for low, high in known)


def outside(patterns: Iterable[tuple[str, Pattern]], types: Mapping[str, Type]) -> Closed:
    """Patterns that the driver knows from the plan, each on one column: the complement of a predicate."""
    found: dict[str, list[Span]] = {}
    for name, pattern in sorted(patterns, key=repr):
        type = types[name]
        match pattern:
            case Constant(value):
                span = Span(type.sql, _literal(value, type), _literal(value, type))
            case Range(low, high, low_open, high_open):
                span = Span(type.sql, _literal(low, type), _literal(high, type), high_open, low_open)
            case _:
                continue
        found.setdefault(name, []).append(span)
    return Closed(spans={name: tuple(spans) for name, spans in found.items()})


def _literal(value: Value | None, type: Type) -> str | None:
    return None if value is None else f"CAST({text(str(value))} AS {type})"
