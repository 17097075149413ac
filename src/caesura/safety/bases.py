"""From a column of a plan down to the columns of base streams that it carries."""

from __future__ import annotations

from collections.abc import Iterator

from caesura.catalog import Stream
from caesura.plan import (
    SESSION_END,
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
)
from caesura.safety.equality import matching_classes
from caesura.safety.monotone import rises_with


def bases(plan: Plan, column: str, *, through_order: bool) -> Iterator[tuple[Stream, str]]:
    """The base streams and columns that `column` carries: unchanged, or in the same order."""
    match plan:
        case Scan(relation=Stream() as stream, alias=alias):
            name = column.removeprefix(f"{alias}.")
            if any(c.name == name and c.type.scalar for c in stream.columns):
                yield stream, name
        case Scan():
            pass
        case Filter(input=below) | Distinct(input=below) | Sort(input=below):
            yield from bases(below, column, through_order=through_order)
        case Frame(input=below):
            if any(each.name == column for each in below.columns):
                yield from bases(below, column, through_order=through_order)
        case Rank(input=below, result=result):
            if column != result.name:
                yield from bases(below, column, through_order=through_order)
        case Project(input=below, outputs=outputs):
            expr = next(output.expr for output in outputs if output.name == column)
            types = {each.name: each.type for each in below.columns}
            source = rises_with(expr, types) if through_order else expr.column
            if source is not None:
                yield from bases(below, source, through_order=through_order)
        case Session(input=below, time=time) if column == SESSION_END:
            if through_order:
                yield from bases(below, time, through_order=True)
        case Group(input=below, keys=keys) | Session(input=below, keys=keys):
            if column in keys:
                yield from bases(below, column, through_order=through_order)
        case Merge(inputs=several) | Compare(inputs=several):
            for each in several:
                yield from bases(each, column, through_order=through_order)
        case Join(inputs=several):
            equal = next((c.columns for c in matching_classes(plan) if column in c.columns), (column,))
            for name in dict.fromkeys((column, *equal)):
                yield from bases(several[plan.owner(name)], name, through_order=through_order)
