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
    return _in_blocks(numbers).project(
        {
            "low": f"IF(low = {_LEAST}, NULL, {at_number('low', type)})",
            "high": f"IF(high = {_GREATEST}, NULL, {at_number('high', type)})",
            "low_open": "false",
            "high_open": "false",
        }
    )


def _in_blocks(numbers: Rows) -> Rows:
    """Numbers from `low` to `high`, both included, in as few intervals as there can be.

    They are put into blocks of 64, a bit for each number, and blocks are what is sorted: of numbers that lie close
    to one another these are few. An interval over several blocks is its first one, its last one, and one row for
    the full ones between. Then the runs of bits are numbered from block to block, and one that goes on in the next
    block has the same number there.
    """
    at_first, at_last = "shiftright(low, 6)", "shiftright(high, 6)"
    between = _part(f"shiftleft({at_first} + 1, 6)", f"shiftleft({at_last}, 6) - 1", "-1L")
    several = (
        _part("low", "low | 63", _bits("low", "63")),
        f"IF({at_first} + 1 < {at_last}, {between}, NULL)",
        _part("high & -64", "high", _bits("0", "high")),
    )
    one = _part("low", "high", _bits("low", "high"))
    parts = numbers.exploded({"part": f"IF({at_first} = {at_last}, array({one}), array({', '.join(several)}))"})
    blocks = (
        parts.present(["part"])
        .project({name: f"part.{name}" for name in ("first", "last", "bits", "low", "high")})
        .grouped(["first", "last"], {"bits": "bit_or(bits)", "low": "min(low)", "high": "max(high)"})
    )
    order = "ORDER BY first, last DESC"
    before = f"OVER ({order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    beside = f"lag(last) OVER ({order}) = first - 1 AND lag(bits) OVER ({order}) < 0"  # the last bit is the sign
    goes_on = f"(bits & 1) = 1 AND coalesce(full_until >= first - 1 OR ({beside}), false)"
    numbered = (
        blocks.extended({"full_until": f"max(IF(bits = -1, last, NULL)) {before}"})
        .where("bits = -1 OR coalesce(full_until < first, true)")
        .extended({"goes_on": f"int({goes_on})", "runs": f"bit_count({_STARTS})"})
        .extended({"island": f"coalesce(sum(runs - goes_on) {before}, 0L) - goes_on"})
    )
    each = f"IF(runs = 1, array(struct(low, high)), zip_with({_places(_STARTS)}, {_places(_ENDS)}, {_RUN}))"
    named = "(run, i) -> struct(run.low AS low, run.high AS high, island + i AS island)"
    runs = numbered.exploded({"run": f"transform({each}, {named})"})
    apart = runs.project({name: f"run.{name}" for name in ("low", "high", "island")})
    return apart.grouped(["island"], {"low": "min(low)", "high": "max(high)"})


_STARTS, _ENDS = "(bits & ~shiftleft(bits, 1))", "(bits & ~shiftrightunsigned(bits, 1))"
"""The first bit of each run of bits, and the last."""
_RUN = "(start, end) -> struct(shiftleft(first, 6) + start AS low, shiftleft(first, 6) + end AS high)"


def _part(low: str, high: str, bits: str) -> str:
    blocks = f"shiftright({low}, 6) AS first, shiftright({high}, 6) AS last"
    return f"struct({blocks}, {low} AS low, {high} AS high, {bits} AS bits)"


def _bits(low: str, high: str) -> str:
    """Of a block, the bits of the numbers from `low` to `high`."""
    more = f"CAST(63 - (({high} & 63) - ({low} & 63)) AS INT)"
    return f"shiftleft(shiftrightunsigned(-1L, {more}), CAST({low} & 63 AS INT))"


def _places(bits: str) -> str:
    return f"filter(sequence(0, 63), place -> getbit({bits}, place) = 1)"


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
