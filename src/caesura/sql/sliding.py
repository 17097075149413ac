"""Sliding windows in FROM are conditions between its inputs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from sqlglot import exp

from caesura.catalog import Interval, Stream
from caesura.clocks import times
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.plan import Scan
from caesura.sql.expressions import condition
from caesura.sql.intervals import interval
from caesura.sql.names import Clock, Input, bound_column
from caesura.sql.refusal import listing, refusal
from caesura.sql.spans import span
from caesura.sql.syntax import WindowedTable


def timed(one: Input, item: exp.Expr, source: Source) -> Input:
    """The input with the times of its rows, and with the window that its FROM item has."""
    found = times(one.plan)
    columns = [named.column.name for named in one.columns]
    length = interval(item.args["window"], source) if isinstance(item, WindowedTable) else None
    if length is not None and len(found) != 1:
        raise _no_one_time(one, found, item, source)
    return replace(one, clocks=tuple(Clock(columns.index(time), length) for time in found))


def limits(inputs: Iterable[Input], others: Iterable[Input], source: Source) -> Iterator[Expr]:
    """What the windows of the inputs on each side say of the rows on the other."""
    for one, other in product(inputs, others):
        for (first, mine), (second, theirs) in product(_times(one), _times(other)):
            if mine.window is not None:
                yield _limit(first, mine.window, second, mine.padded or theirs.padded, source)
            if theirs.window is not None:
                yield _limit(second, theirs.window, first, mine.padded or theirs.padded, source)


def padded(inputs: Iterable[Input]) -> tuple[Input, ...]:
    """The inputs after an outer join that puts NULL where a row of the other side has no partner."""
    return tuple(replace(one, clocks=tuple(replace(clock, padded=True) for clock in one.clocks)) for one in inputs)


def _times(one: Input) -> Iterator[tuple[exp.Column, Clock]]:
    for clock in one.clocks:
        column = one.columns[clock.index].column
        yield bound_column(column.name, column.type, exp.Placeholder()), clock


def _limit(time: exp.Column, window: Interval, other: exp.Column, padded: bool, source: Source) -> Expr:
    """A row that is not there is within every window."""
    last = exp.Add(this=time.copy(), expression=exp.maybe_parse(window.sql, dialect="spark"))
    inside: exp.Expr = exp.LTE(this=other.copy(), expression=last)
    if padded:
        absent = (exp.Is(this=each.copy(), expression=exp.Null()) for each in (time, other))
        inside = exp.or_(*absent, inside)
    return condition(inside, source, "a window")


def _no_one_time(one: Input, found: tuple[str, ...], item: exp.Expr, source: Source) -> Exception:
    stream = isinstance(one.plan, Scan) and isinstance(one.plan.relation, Stream)
    several = listing(named.name for named in one.columns if named.column.name in found)
    return refusal(
        Code.WINDOW_WITHOUT_ORDER,
        f"`{item.this.name}` has {'several times' if found else 'no time'} to slide a window over",
        span(item, source),
        because=f"{several}: each is the time of a stream that it reads"
        if found
        else "the time of a window is the column in ORDERED BY",
        help=f"add ORDERED BY (…) to `{item.this.name}`"
        if stream
        else "put the window on the streams that it reads"
        if found or not isinstance(one.plan, Scan)
        else None,
    )
