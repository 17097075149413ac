"""Intervals of one attribute: joined up where they overlap or touch, and read back as points where short."""

from __future__ import annotations

from collections.abc import Iterable

from caesura.operators.intervals import ENDS, at_number, ends_of, number, one_value
from caesura.operators.rows import Rows, quote
from caesura.types import Type

SHORT = 1024
"""Intervals of up to so many values are read as points: a hash join answers for a million of them, a nested loop
for few boxes."""

_LEAST, _GREATEST = "-9223372036854775808L", "9223372036854775807L"


def as_points(points: Rows | None, attribute: str) -> Rows | None:
    """Constants as intervals of one value."""
    if points is None:
        return None
    return points.project({attribute: one_value(quote(attribute))}).ranging(points.ranges)


def short(intervals: Rows | None, attribute: str, type: Type) -> Rows | None:
    """The values of the short intervals, one by one."""
    if intervals is None:
        return None
    name = quote(attribute)
    found = intervals.where(_is_short(name, type))
    if type.enumerable:
        return found.exploded({attribute: f"sequence({name}.low, {name}.high)"}).ranging(intervals.ranges)
    return found.project({attribute: f"{name}.low"})


def wide(intervals: Rows | None, attribute: str, type: Type) -> Rows | None:
    """The other intervals, as boxes."""
    return None if intervals is None else intervals.where(wide_condition(quote(attribute), type))


def wide_condition(name: str, type: Type) -> str:
    """The condition that an interval is not read as points."""
    return f"NOT coalesce({_is_short(name, type)}, false)"


def _is_short(name: str, type: Type) -> str:
    closed = f"{name}.low IS NOT NULL AND {name}.high IS NOT NULL AND NOT {name}.low_open AND NOT {name}.high_open"
    if not type.enumerable:
        return f"({closed} AND {name}.low = {name}.high)"
    width = f"try_subtract({number(f'{name}.high', type)}, {number(f'{name}.low', type)})"
    return f"({closed} AND {width} < {SHORT})"


def islands(intervals: Rows, attribute: str, type: Type) -> Rows:
    """The same values in as few intervals as there can be."""
    flat = intervals.project({part: f"{quote(attribute)}.{part}" for part in ENDS})
    merged = _enumerable(flat, type) if type.enumerable else joined_up(flat)
    return merged.project({attribute: f"struct({', '.join(ENDS)})"}).ranging(intervals.ranges)


def _enumerable(intervals: Rows, type: Type) -> Rows:
    """In whole numbers, where (3, 7] and [8, 9] touch. An end that is open to all sides is the last number."""
    low, high = number("low", type), number("high", type)
    first = f"coalesce(IF(low_open, try_add({low}, 1L), {low}), IF(low IS NULL, {_LEAST}, NULL))"
    last = f"coalesce(IF(high_open, try_subtract({high}, 1L), {high}), IF(high IS NULL, {_GREATEST}, NULL))"
    least, greatest = ends_of(type)
    filled = (
        f"low <= high AND low <= {greatest}L AND high >= {least}L"  # nothing of a type is beyond its last value
    )
    numbers = intervals.project({"low": first, "high": last}).where(filled)
    farthest = "max(high) OVER (ORDER BY low ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    starts = "farthest IS NULL OR (low > farthest AND try_subtract(low, 1L) > farthest)"
    return (
        numbers.extended({"farthest": farthest})
        .extended({"island": f"sum(int({starts})) OVER (ORDER BY low ROWS UNBOUNDED PRECEDING)"})
        .grouped(["island"], {"low": "min(low)", "high": "max(high)"})
        .project(
            {
                "low": f"IF(low = {_LEAST}, NULL, {at_number('low', type)})",
                "high": f"IF(high = {_GREATEST}, NULL, {at_number('high', type)})",
                "low_open": "false",
                "high_open": "false",
            }
        )
    )


def joined_up(intervals: Rows, of: Iterable[str] = ()) -> Rows:
    """In a dense order, where [1, 2) and [2, 3] touch, and (1, 2) and (2, 3) do not. The columns `of` say whose
    they are: those of different owners stay apart."""
    owner = tuple(of)
    apart_by = f"PARTITION BY {', '.join(map(quote, owner))} " if owner else ""
    order = f"{apart_by}ORDER BY low, low_open"  # NULL, no lower end, comes first
    ends = "struct(high IS NULL AS endless, high, NOT high_open AS included)"
    farthest = f"max({ends}) OVER ({order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    apart = "low > farthest.high OR (low = farthest.high AND low_open AND NOT farthest.included)"
    starts = f"farthest IS NULL OR (NOT farthest.endless AND low IS NOT NULL AND ({apart}))"
    filled = "low IS NULL OR high IS NULL OR low < high OR (low = high AND NOT low_open AND NOT high_open)"
    return (
        intervals.where(filled)
        .extended({"farthest": farthest})
        .extended({"island": f"sum(int({starts})) OVER ({order} ROWS UNBOUNDED PRECEDING)"})
        .grouped(
            [*owner, "island"],
            {"first": "min(struct(low IS NOT NULL AS bounded, low, low_open))", "last": f"max({ends})"},
        )
        .project(
            {
                **{name: quote(name) for name in owner},
                "low": "first.low",
                "high": "last.high",
                "low_open": "first.low_open",
                "high_open": "NOT last.included",
            }
        )
    )
