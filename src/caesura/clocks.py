"""The times of rows: what a sliding window slides over.

`A [RANGE T]` means that a partner's time is at most T after A's. A stream's time is the first date or time in its
ORDERED BY, and it stays the time of the rows that a query makes of them, as long as they carry it.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.catalog import Interval, Stream
from caesura.plan import (
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
    walk,
)


def times(plan: Plan) -> tuple[str, ...]:
    """The columns that hold the time of a stream below; never NULL because an outer join found no partner."""
    match plan:
        case Scan(relation=Stream() as stream, alias=alias):
            return () if stream.time is None else (f"{alias}.{stream.time}",)
        case Scan():
            return ()
        case Filter(input=below) | Distinct(input=below) | Sort(input=below) | Rank(input=below):
            return times(below)
        case Frame(input=below):
            return times(below)
        case Project(input=below):
            return tuple(name for time in times(below) for name in plan.copies.get(time, ())[:1])
        case Group(input=below, keys=keys) | Session(input=below, keys=keys):
            return tuple(time for time in times(below) if time in keys)
        case Join():
            out = plan.inputs[:1] if plan.halved else plan.inputs
            return tuple(time for i, below in enumerate(out) if i not in plan.padded for time in times(below))
        case Merge(inputs=several) | Compare(inputs=several):
            first, *others = map(times, several)
            return tuple(time for time in first if all(time in other for other in others))


def idle_windows(plan: Plan) -> Iterator[Scan]:
    """The inputs whose window limits nothing, because no input that they are joined with has a time."""
    limited = {
        node
        for join in walk(plan)
        if isinstance(join, Join)
        for i, below in enumerate(join.inputs)
        if any(times(other) for j, other in enumerate(join.inputs) if j != i)
        for node in walk(below)
    }
    for node in walk(plan):
        if isinstance(node, Scan) and node.window is not None and node not in limited:
            yield node


def release(below: Plan) -> tuple[str, Interval] | None:
    """When rows of an input of an inner join are given up, if that was asked for: how long after which time."""
    streams = [node.relation for node in walk(below) if isinstance(node, Scan)]
    match streams, times(below):
        case [Stream(release=Interval() as after)], (time,):
            return time, after
        case _:
            return None


def idle_releases(plan: Plan) -> Iterator[Scan]:
    """The inputs that OPTIONS (release …) gives nothing of up."""
    released = {
        node
        for join in walk(plan)
        if isinstance(join, Join) and join.kind == "inner"
        for below in join.inputs
        if release(below) is not None
        for node in walk(below)
    }
    for node in walk(plan):
        match node:
            case Scan(relation=Stream(release=Interval())) if node not in released:
                yield node
