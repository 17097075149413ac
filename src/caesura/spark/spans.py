"""The longest intervals of a punctuation table, known to the driver.

Closed keys are mostly one long run. Where the driver knows such an interval, "is this row closed?" is a comparison
with two literals, which Spark pushes down to the files, instead of a join.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame

from caesura.operators.closed import Span
from caesura.operators.frames import quote
from caesura.operators.operator import StateTable
from caesura.types import Type

Known = tuple[tuple[str, str, str], ...]
"""Intervals as attribute, low and high, in texts that go into the manifest."""

_MOST = 32


def metric(table: StateTable, where: str, columns: Mapping[str, str]) -> str | None:
    """An aggregate that finds the longest intervals among the rows `where`; `columns` are their names there."""
    cases = [
        f"WHEN {where} AND {_alone(attribute, columns)} THEN {_described(attribute, columns[attribute], type)}"
        for attribute, type in _types(table).items()
        if attribute in columns
    ]
    if not cases:
        return None
    return f"to_json(slice(sort_array(collect_list(CASE {' '.join(cases)} END), false), 1, {_MOST}))"


def read(found: str | None) -> Known:
    return tuple((span["attribute"], span["low"], span["high"]) for span in json.loads(found or "[]"))


def spans(known: Known, table: StateTable) -> dict[str, tuple[Span, ...]]:
    types = _types(table)
    found: dict[str, tuple[Span, ...]] = {}
    for attribute, low, high in known:
        first, last = (f"CAST('{end}' AS {types[attribute]})" for end in (low, high))
        found[attribute] = (*found.get(attribute, ()), Span(first, last))
    return found


def without(boxes: DataFrame, known: Mapping[str, Iterable[Span]]) -> DataFrame:
    """The boxes that the driver does not know."""
    for attribute, several in known.items():
        alone, box = _alone(attribute, {name: name for name in boxes.columns}), quote(attribute)
        for span in several:
            same = f"{alone} AND {box}.low = {span.low} AND {box}.high = {span.high}"
            boxes = boxes.where(f"NOT coalesce({same}, false)")
    return boxes


def _types(table: StateTable) -> dict[str, Type]:
    return dict(table.intervals_of)


def _alone(attribute: str, columns: Mapping[str, str]) -> str:
    """The condition that a box is a closed interval of this attribute and restricts no other."""
    box = quote(columns[attribute])
    ends = f"{box}.low IS NOT NULL AND {box}.high IS NOT NULL AND NOT {box}.low_open AND NOT {box}.high_open"
    return " AND ".join([ends, *(f"{quote(c)} IS NULL" for name, c in columns.items() if name != attribute)])


def _described(attribute: str, column: str, type: Type) -> str:
    """An interval for the driver: its length, to tell which are worth knowing, and its ends as texts."""
    low, high = f"{quote(column)}.low", f"{quote(column)}.high"
    length = f"datediff({high}, {low})" if type.sql == "DATE" else f"CAST({high} AS DECIMAL(20, 0)) - {low}"
    return (
        f"struct(CAST({length} AS DECIMAL(21, 0)) AS length, '{attribute}' AS attribute, "
        f"CAST({low} AS STRING) AS low, CAST({high} AS STRING) AS high)"
    )
