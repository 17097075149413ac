"""Punctuations that must be remembered, as state tables, and how they grow together.

They must be kept because they also rule out rows that come later (THEORY: the punctuations themselves). Closed
keys are mostly dense, so constants of an enumerable type that follow one another become one interval, and
intervals that touch become one: the store is bounded by the open keys, not by history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from caesura.catalog import Column
from caesura.operators.closed import Attributes, Closed, as_boxes, interval_type
from caesura.operators.frames import Frame, only, quote, union
from caesura.operators.operator import Change, Changes, State, StateTable
from caesura.types import Type

RUN = 1024
"""Shorter runs stay points: a hash join answers for a million points, a nested loop only for few intervals."""


@dataclass(frozen=True)
class Store:
    """`keys` are the attribute sets whose constants are held as points; all else is held as boxes."""

    name: str
    types: Mapping[str, Type]
    keys: tuple[Attributes, ...]

    @cached_property
    def _points(self) -> Mapping[Attributes, str]:
        return {attributes: f"{self.name}({', '.join(attributes)})" for attributes in self.keys}

    @property
    def _boxes(self) -> str:
        return f"{self.name} boxes"

    @property
    def tables(self) -> tuple[StateTable, ...]:
        points = (
            StateTable(name, tuple(Column(a, self.types[a]) for a in attributes), holds="punctuations")
            for attributes, name in self._points.items()
        )
        patterns = tuple(Column(a, Type(interval_type(t.sql))) for a, t in self.types.items())
        alone = (key[0] for key in self.keys if len(key) == 1)
        coalescing = tuple((a, self.types[a]) for a in alone if self.types[a].enumerable)
        return (*points, StateTable(self._boxes, patterns, holds="punctuations", intervals_of=coalescing))

    def read(self, state: State) -> Closed:
        points = {
            attributes: rows for attributes, name in self._points.items() if (rows := state[name].rows) is not None
        }
        return Closed(points, state[self._boxes].rows, state[self._boxes].spans)

    def append(self, state: State, new: Closed) -> Changes:
        """Remember more. When a table is due to be written anew, all of them are, coalesced."""
        names = (*self._points.values(), self._boxes)
        types = {name: type.sql for name, type in self.types.items()}
        if any(state[name].rewrite for name in names):
            everything = as_boxes(self.read(state) | new, types, state.one_row())
            return self.replace(self._coalesced(everything))
        new = as_boxes(new, types, state.one_row())
        points = {name: Change(new.points.get(a), rewrite=False) for a, name in self._points.items()}
        return {**points, self._boxes: Change(new.boxes, rewrite=False)}

    def replace(self, closed: Closed) -> Changes:
        """Remember exactly this."""
        points = {name: Change(closed.points.get(a), rewrite=True) for a, name in self._points.items()}
        return {**points, self._boxes: Change(closed.boxes, rewrite=True)}

    def _coalesced(self, closed: Closed) -> Closed:
        points: dict[Attributes, DataFrame] = {}
        grown: list[Frame] = []
        others = closed.boxes
        for attributes in self.keys:
            known = closed.points.get(attributes)
            if len(attributes) > 1:
                if known is not None:
                    points[attributes] = known.distinct()
            elif known is not None or others is not None:
                (attribute,) = attributes
                alone, others = _alone(others, attribute)
                points[attributes], boxes = _islands(known, alone, attribute, self.types[attribute])
                grown.append(boxes)
        return Closed(points, union((None if others is None else others.distinct(), *grown)))


def _alone(boxes: Frame, attribute: str) -> tuple[Frame, Frame]:
    """The boxes that restrict this attribute and no other, and the rest."""
    if boxes is None:
        return None, None
    wild = [f"{quote(name)} IS NULL" for name in boxes.columns if name != attribute]
    condition = " AND ".join([f"{quote(attribute)} IS NOT NULL", *wild])
    return boxes.where(condition), boxes.where(f"NOT ({condition})")


def _islands(points: Frame, boxes: Frame, attribute: str, type: Type) -> tuple[DataFrame, DataFrame]:
    """Points and intervals of one attribute joined up where they overlap or touch, as points and intervals."""
    name, sql = quote(attribute), type.sql
    intervals = union(
        (
            None
            if points is None
            else points.selectExpr(f"{name} AS low", f"{name} AS high", "false AS low_open", "false AS high_open"),
            None if boxes is None else boxes.selectExpr(f"{name}.*"),
        )
    )
    assert intervals is not None
    if type.enumerable:
        intervals = _closed_ends(intervals, type)
    order = "ORDER BY low IS NOT NULL, low, low_open"
    farthest = (
        f"max(struct(high IS NULL AS endless, high, NOT high_open AS included)) OVER ({order} "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS farthest"
    )
    starts = f"farthest IS NULL OR (NOT farthest.endless AND low IS NOT NULL AND {_gap(type)})"
    islands = (
        intervals.selectExpr("*", farthest)
        .selectExpr("*", f"sum(int({starts})) OVER ({order} ROWS UNBOUNDED PRECEDING) AS island")
        .groupBy("island")
        .agg(
            expr("min(struct(low IS NOT NULL AS bounded, low, low_open)) AS first"),
            expr("max(struct(high IS NULL AS endless, high, NOT high_open AS included)) AS last"),
        )
        .selectExpr("first.low", "last.high", "first.low_open", "NOT last.included AS high_open")
    )
    closed_ends = "low IS NOT NULL AND high IS NOT NULL AND NOT low_open AND NOT high_open"
    if type.enumerable:
        length = "datediff(high, low)" if sql == "DATE" else "try_subtract(high, low)"
        short = f"({closed_ends} AND coalesce({length} < {RUN}, false))"
        single = islands.where(short).selectExpr(f"explode(sequence(low, high)) AS {name}")
    else:
        short = f"({closed_ends} AND low = high)"
        single = islands.where(short).selectExpr(f"low AS {name}")
    wide = islands.where(f"NOT {short}").selectExpr(f"struct(low, high, low_open, high_open) AS {name}")
    return only(single, [attribute]), wide


def _closed_ends(intervals: DataFrame, type: Type) -> DataFrame:
    """Open ends moved to the next value, so that intervals which touch can be seen to; empty ones are dropped."""
    after, before = (
        f"date_add({{}}, {d})" if type.sql == "DATE" else f"try_add({{}}, CAST({d} AS {type}))" for d in (1, -1)
    )
    moved = intervals.selectExpr(
        f"IF(low_open, {after.format('low')}, low) AS low",
        f"IF(high_open, {before.format('high')}, high) AS high",
        "low_open AND low IS NOT NULL AS had_low",
        "high_open AND high IS NOT NULL AS had_high",
    )
    lost = "(had_low AND low IS NULL) OR (had_high AND high IS NULL) OR coalesce(low > high, false)"
    return moved.where(f"NOT ({lost})").selectExpr("low", "high", "false AS low_open", "false AS high_open")


def _gap(type: Type) -> str:
    """Whether a value lies between the farthest end so far and `low` that neither side contains."""
    if type.sql == "DATE":
        return "datediff(low, farthest.high) > 1"
    if type.enumerable:
        return f"coalesce(low > try_add(farthest.high, CAST(1 AS {type.sql})), false)"
    return "(low > farthest.high OR (low = farthest.high AND low_open AND NOT farthest.included))"
