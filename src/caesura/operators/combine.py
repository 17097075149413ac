"""What two streams have both closed: combine(p, q) of every punctuation of one with every one of the other.

Most of these pairs say little: "no more id 1" here and "nothing before noon" there give "no more id 1 before
noon", once for every id ever closed. So two punctuations are combined if one of them speaks of all the attributes
that the other speaks of, and otherwise only where their attributes together are *wanted*: a scheme of the result,
which nothing simpler closes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caesura.operators.closed import NOTHING, Attributes, Closed, against_boxes, in_order
from caesura.operators.intervals import interval_table, one_value
from caesura.operators.rows import Rows, quote


@dataclass(frozen=True)
class Combination:
    columns: Attributes
    """All attributes, in the order in which a set of them is spelled."""
    wanted: Collection[frozenset[str]] = ()

    def of(self, one: Closed, other: Closed) -> Closed:
        if one.everything:
            return other
        if other.everything:
            return one
        both = NOTHING
        for mine in _pieces(one.one_by_one()):
            for theirs in _pieces(other.one_by_one()):
                both |= self._together(mine, theirs)
        return both

    def keys(self, inputs: Sequence[Iterable[Attributes]]) -> tuple[Attributes, ...]:
        """The attribute sets on which combinations may be points, by those of the inputs."""
        first, *rest = ({frozenset(key) for key in keys} for keys in inputs)
        for other in rest:
            pairs = {(one, two) for one in first for two in other}
            first = {one | two for one, two in pairs if one <= two or two <= one or one | two in self.wanted}
        return tuple(sorted(in_order(self.columns, key) for key in first))

    def _together(self, one: _Piece, other: _Piece) -> Closed:
        if one.attributes is not None and other.attributes is not None:
            mine, theirs = frozenset(one.attributes), frozenset(other.attributes)
            if not (mine <= theirs or theirs <= mine or mine | theirs in self.wanted):
                return NOTHING
        if one.points and other.points:
            return self._points_with_points(one.rows, other.rows)
        if one.points:
            return self._points_with_boxes(one.rows, other.rows)
        if other.points:
            return self._points_with_boxes(other.rows, one.rows)
        return Closed(boxes=self._boxes_with_boxes(one.rows, other.rows))

    def _points_with_points(self, one: Rows, other: Rows) -> Closed:
        shared = [name for name in one.columns if name in other.columns]
        if len(shared) == len(other.columns):
            return Closed({one.columns: one.matching(other, shared)})
        if len(shared) == len(one.columns):
            return Closed({other.columns: other.matching(one, shared)})
        theirs = {name: f"other {name}" for name in other.columns}
        condition = " AND ".join(f"{quote(name)} = {quote(theirs[name])}" for name in shared)
        joined = one.join(other.renamed(theirs), condition or None)
        both = in_order(self.columns, (*one.columns, *other.columns))
        return Closed(
            {both: joined.renamed({name if name in one.columns else theirs[name]: name for name in both})}
        )

    def _points_with_boxes(self, points: Rows, boxes: Rows) -> Closed:
        """A box that speaks of attributes of the points alone leaves some of them; any other becomes smaller."""
        within = Closed(boxes=boxes).confined(points.columns).boxes
        assert within is not None
        found = Closed({points.columns: against_boxes(points, within)})
        outside = [f"{quote(name)} IS NOT NULL" for name in boxes.columns if name not in points.columns]
        if not outside:
            return found
        intervals = points.project({name: one_value(quote(name)) for name in points.columns})
        return found | Closed(boxes=self._boxes_with_boxes(intervals, boxes.where(" OR ".join(outside))))

    def _boxes_with_boxes(self, one: Rows, other: Rows) -> Rows:
        mine = {name: f"one {name}" for name in one.columns}
        theirs = {name: f"other {name}" for name in other.columns}
        names = in_order(self.columns, (*one.columns, *other.columns))
        sides = {
            name: (quote(mine[name]) if name in mine else None, quote(theirs[name]) if name in theirs else None)
            for name in names
        }
        joined = one.renamed(mine).join(other.renamed(theirs), self._worth(sides))
        patterns = {name: _overlap(*sides[name]) for name in names}
        filled = " AND ".join(_filled(quote(name)) for name in names)
        return joined.project(patterns).where(filled)

    def _worth(self, sides: Mapping[str, tuple[str | None, str | None]]) -> str:
        """The condition that two boxes are to be combined."""
        speaks = {
            name: tuple("false" if box is None else f"{box} IS NOT NULL" for box in pair)
            for name, pair in sides.items()
        }
        choices = [
            [f"({theirs} OR NOT {mine})" for mine, theirs in speaks.values()],
            [f"({mine} OR NOT {theirs})" for mine, theirs in speaks.values()],
        ]
        choices += (
            [
                f"({mine} OR {theirs}) = {str(name in attributes).lower()}"
                for name, (mine, theirs) in speaks.items()
            ]
            for attributes in self.wanted
        )
        return " OR ".join(f"({' AND '.join(every)})" for every in choices)


@dataclass(frozen=True)
class _Piece:
    """Punctuations of one shape; `attributes` are those that each speaks of, None if that differs."""

    rows: Rows
    attributes: Attributes | None
    points: bool = False


def _pieces(closed: Closed) -> Iterator[_Piece]:
    for attributes, rows in closed.points.items():
        yield _Piece(rows, attributes, points=True)
    for attribute, spans in closed.spans.items():
        yield _Piece(interval_table(attribute, spans), (attribute,))
    if closed.boxes is not None:
        yield _Piece(closed.boxes, None)


def _overlap(one: str | None, other: str | None) -> str:
    """The values in both patterns; NULL, the wildcard, leaves the other as it is."""
    if one is None or other is None:
        return one or other or "NULL"
    low, high = f"greatest({one}.low, {other}.low)", f"least({one}.high, {other}.high)"  # both skip NULL, no end

    def opened(end: str, value: str) -> str:
        return " OR ".join(f"coalesce({box}.{end} = {value} AND {box}.{end}_open, false)" for box in (one, other))

    opens = f"({opened('low', low)}) AS low_open, ({opened('high', high)}) AS high_open"
    both = f"struct({low} AS low, {high} AS high, {opens})"
    return f"CASE WHEN {one} IS NULL THEN {other} WHEN {other} IS NULL THEN {one} ELSE {both} END"


def _filled(box: str) -> str:
    """The condition that some value is inside."""
    point = f"({box}.low = {box}.high AND NOT {box}.low_open AND NOT {box}.high_open)"
    return f"({box} IS NULL OR {box}.low IS NULL OR {box}.high IS NULL OR {box}.low < {box}.high OR {point})"
