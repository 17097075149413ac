"""What a run sees of its streams' traffic, by which join plans are chosen later (`planning/statistics.py`).

Rates are measured by the time that streams have, since a replay is faster than life: for a stream with a time of
its own, that from its oldest row to its newest. The others go by how far those with a time have come with each
slice or, if there are none, by when slices come; over a restart too, since a source does not wait. What starts a
clock is not counted by it: the oldest row, or all of the first slice.

The open values of a column are those in the state of a join, counted whenever a slice writes it anew and leaves
rows in it. Their number is the mean of these counts: the last is often that of a state which runs out because the
input ends. A side of which nothing is ever stored gives none.

The values that are closed are counted where they come one by one, by punctuations of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from caesura import plan
from caesura.catalog import Promise, Traffic
from caesura.checkpoint.manifest import Seen
from caesura.operators.demand import Demanded
from caesura.operators.join import Join
from caesura.planning.statistics import Statistics
from caesura.safety.bases import bases
from caesura.spark.compile import Compiled
from caesura.spark.contract import Contract
from caesura.spark.punctuations import kind_of
from caesura.spark.survey import Survey

Origins: TypeAlias = Mapping[str, Mapping[str, tuple[str, str]]]
"""State table of a join → column → the stream and its column whose values these are."""
Open: TypeAlias = Mapping[str, Mapping[str, int]]
"""State table of a join → column → how many values there are of it."""


def origins(compiled: Compiled) -> Origins:
    """The columns that hold values of one stream alone, which some join compares; not always the one that stores
    them."""
    joins = {
        node: join
        for node, join in compiled.operators.items()
        if isinstance(join, Join) and not isinstance(join, Demanded)  # whose rows are in two tables each
    }
    every = [pair for node, join in joins.items() for pair in zip(join.sides, plan.inputs(node), strict=True)]
    sides = [(side, below) for side, below in every if side.synopsis is None]
    found = {side.table.name: dict(_single(below)) for side, below in sides}
    compared = {found[side.table.name].get(key) for side, _ in sides for key in side.keys}
    return {
        side.table.name: {
            column.name: origin
            for column in side.table.columns
            if (origin := found[side.table.name].get(column.name)) in compared and origin is not None
        }
        for side, _ in sides
    }


def sent(
    before: Mapping[str, Seen], contracts: Mapping[str, Contract], surveys: Mapping[str, Survey], time: int
) -> dict[str, Seen]:
    """With what a slice brought that came at this time."""
    rows = {name: each.admitted - each.repeated for name, each in surveys.items()}
    brought = {name: before.get(name, Seen()) for name, number in rows.items() if number}
    after = dict(before)
    for name, seen in brought.items():
        if contracts[name].timed_by is not None:
            after[name] = _by_its_time(seen, contracts[name], surveys[name], rows[name])
    timed = [name for name, contract in contracts.items() if contract.timed_by is not None]
    times = (after.get(name, Seen()).last for name in timed)
    clock = max((each for each in times if each is not None), default=None) if timed else time
    for name, seen in brought.items():
        if contracts[name].timed_by is None and clock is not None:
            after[name] = _by_the_clock(seen, clock, rows[name])
    for name, survey in surveys.items():
        since = before.get(name, Seen()) if contracts[name].timed_by is None else after.get(name, Seen())
        if since.first is not None:
            after[name] = _with_closed(after[name], contracts[name], survey)
    return after


def _with_closed(seen: Seen, contract: Contract, survey: Survey) -> Seen:
    by_rows: tuple[Promise, ...] = (*contract.unique, *contract.ending, *contract.clusters)
    rows_close = {contract.key(each.columns) for each in by_rows}
    closed = dict(seen.closed)
    for key in contract.in_band.keys() - rows_close:
        if len(key) == 1:
            number = survey.plain.get(key[0], 0) + survey.kinds.get(kind_of(key), 0)
            closed[key[0]] = closed.get(key[0], 0) + number
    return replace(seen, closed={column: number for column, number in closed.items() if number})


def _by_its_time(before: Seen, contract: Contract, survey: Survey, rows: int) -> Seen:
    assert contract.timed_by is not None
    if survey.time is None:
        return before
    slack = contract.timed_by.slack
    newest = survey.time + (0 if slack is None else slack.microseconds)
    if before.first is None:
        return replace(before, rows=rows - 1, first=survey.oldest, last=newest)
    return replace(before, rows=before.rows + rows, last=newest)


def _by_the_clock(before: Seen, clock: int, rows: int) -> Seen:
    if before.first is None:
        return replace(before, first=clock, last=clock)
    return replace(before, rows=before.rows + rows, last=clock)


def stored(before: Mapping[str, Seen], origins: Origins, found: Open) -> dict[str, Seen]:
    """With the values that a slice left in the states of joins; where several hold a column, the most."""
    most: dict[tuple[str, str], int] = {}
    for table, numbers in found.items():
        for column, number in numbers.items():
            origin = origins[table][column]
            most[origin] = max(most.get(origin, 0), number)
    after = dict(before)
    for (stream, column), number in most.items():
        if number:
            known = after.get(stream, Seen())
            times, total = known.open.get(column, (0, 0))
            after[stream] = replace(known, open={**known.open, column: (times + 1, total + number)})
    return after


def statistics(streams: Mapping[str, Seen]) -> Statistics:
    """What is known by now; a stream of which nothing is known is left out."""
    found = {
        name: Traffic(_per_second(each, each.rows), tuple(_open(each)), tuple(_closes(each)))
        for name, each in streams.items()
    }
    return Statistics({name: each for name, each in found.items() if each != Traffic()})


def _per_second(seen: Seen, number: int) -> float | None:
    if seen.first is None or seen.last is None or seen.last <= seen.first:
        return None
    return number / (seen.last - seen.first) * 1e6


def _closes(seen: Seen) -> Iterator[tuple[str, float]]:
    for column, number in seen.closed.items():
        if (rate := _per_second(seen, number)) is not None:
            yield column, rate


def _open(seen: Seen) -> Iterator[tuple[str, float]]:
    return ((column, total / times) for column, (times, total) in seen.open.items())


def _single(below: plan.Plan) -> Iterator[tuple[str, tuple[str, str]]]:
    for column in below.columns:
        match list(bases(below, column.name, through_order=False)):
            case [(stream, name)]:
                yield column.name, (stream.name, name)
