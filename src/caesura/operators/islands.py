"""Intervals of one attribute: joined up where they overlap or touch, and read back as points where short."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from caesura.operators.frames import Frame, quote
from caesura.types import Type

RUN = 1024
"""Shorter intervals are read as points: a hash join answers for a million points, a nested loop for few boxes."""

_LEAST, _GREATEST = "-9223372036854775808L", "9223372036854775807L"


def as_points(points: Frame, attribute: str) -> Frame:
    """Constants as intervals of one value."""
    if points is None:
        return None
    name = quote(attribute)
    one = f"struct({name} AS low, {name} AS high, false AS low_open, false AS high_open) AS {name}"
    return points.selectExpr(one)


def short(intervals: Frame, attribute: str, type: Type) -> Frame:
    """The values of the short intervals, one by one."""
    if intervals is None:
        return None
    name = quote(attribute)
    values = f"explode(sequence({name}.low, {name}.high))" if type.enumerable else f"{name}.low"
    return intervals.where(_is_short(name, type)).selectExpr(f"{values} AS {name}")


def wide(intervals: Frame, attribute: str, type: Type) -> Frame:
    """The other intervals, as boxes."""
    return None if intervals is None else intervals.where(wide_condition(quote(attribute), type))


def wide_condition(name: str, type: Type) -> str:
    """The condition that an interval is not read as points."""
    return f"NOT coalesce({_is_short(name, type)}, false)"


def _is_short(name: str, type: Type) -> str:
    closed = f"{name}.low IS NOT NULL AND {name}.high IS NOT NULL AND NOT {name}.low_open AND NOT {name}.high_open"
    if not type.enumerable:
        return f"({closed} AND {name}.low = {name}.high)"
    width = f"try_subtract({_number(f'{name}.high', type)}, {_number(f'{name}.low', type)})"
    return f"({closed} AND {width} < {RUN})"


def islands(intervals: DataFrame, attribute: str, type: Type) -> DataFrame:
    """The same values in as few intervals as there can be."""
    flat = intervals.selectExpr(f"{quote(attribute)}.*")
    merged = _enumerable(flat, type) if type.enumerable else _continuous(flat)
    return merged.selectExpr(f"struct(low, high, low_open, high_open) AS {quote(attribute)}")


def _number(value: str, type: Type) -> str:
    """A value of an enumerable type as a number of which each next value is one more."""
    return f"CAST(unix_date({value}) AS BIGINT)" if type.sql == "DATE" else f"CAST({value} AS BIGINT)"


def _enumerable(intervals: DataFrame, type: Type) -> DataFrame:
    """In whole numbers, where (3, 7] and [8, 9] touch. An end that is open to all sides is the last number."""
    low, high = _number("low", type), _number("high", type)
    numbers = intervals.selectExpr(
        f"coalesce(IF(low_open, try_add({low}, 1L), {low}), IF(low IS NULL, {_LEAST}, NULL)) AS low",
        f"coalesce(IF(high_open, try_subtract({high}, 1L), {high}), IF(high IS NULL, {_GREATEST}, NULL)) AS high",
    ).where("low <= high")
    farthest = "max(high) OVER (ORDER BY low ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    starts = "farthest IS NULL OR (low > farthest AND try_subtract(low, 1L) > farthest)"
    back = "date_from_unix_date(CAST({0} AS INT))" if type.sql == "DATE" else f"CAST({{0}} AS {type})"
    return (
        numbers.selectExpr("low", "high", f"{farthest} AS farthest")
        .selectExpr("low", "high", f"sum(int({starts})) OVER (ORDER BY low ROWS UNBOUNDED PRECEDING) AS island")
        .groupBy("island")
        .agg(expr("min(low) AS low"), expr("max(high) AS high"))
        .selectExpr(
            f"IF(low = {_LEAST}, NULL, {back.format('low')}) AS low",
            f"IF(high = {_GREATEST}, NULL, {back.format('high')}) AS high",
            "false AS low_open",
            "false AS high_open",
        )
    )


def _continuous(intervals: DataFrame) -> DataFrame:
    """In a dense order, where [1, 2) and [2, 3] touch, and (1, 2) and (2, 3) do not."""
    order = "ORDER BY low, low_open"  # NULL, no lower end, comes first
    ends = "struct(high IS NULL AS endless, high, NOT high_open AS included)"
    farthest = f"max({ends}) OVER ({order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    apart = "low > farthest.high OR (low = farthest.high AND low_open AND NOT farthest.included)"
    starts = f"farthest IS NULL OR (NOT farthest.endless AND low IS NOT NULL AND ({apart}))"
    filled = "low IS NULL OR high IS NULL OR low < high OR (low = high AND NOT low_open AND NOT high_open)"
    return (
        intervals.where(filled)
        .selectExpr("*", f"{farthest} AS farthest")
        .selectExpr("*", f"sum(int({starts})) OVER ({order} ROWS UNBOUNDED PRECEDING) AS island")
        .groupBy("island")
        .agg(
            expr("min(struct(low IS NOT NULL AS bounded, low, low_open)) AS first"),
            expr(f"max({ends}) AS last"),
        )
        .selectExpr("first.low", "last.high", "first.low_open", "NOT last.included AS high_open")
    )
