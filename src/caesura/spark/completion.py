"""COMPLETE BY: what every part of a stream has closed is closed for the whole stream.

A part is what a row of the promise's table lists, such as a sensor. Each part closes values, such as hours: as
constants, as ranges, or all of them when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from caesura.operators.closed import NOTHING, Attributes, Closed, as_data
from caesura.operators.intervals import ENDS, inside, interval_type, one_value, within
from caesura.operators.islands import joined_up
from caesura.operators.rows import Rows, quote, union
from caesura.types import Type

_PART = "the part"


@dataclass(frozen=True)
class Completion:
    columns: Attributes
    per: Attributes
    parts: Rows
    """The parts, each once: the columns `per`."""
    types: Mapping[str, Type]

    def awaits(self, new: Closed) -> bool:
        """Whether these may complete a value: some speak of parts."""
        in_boxes = () if new.boxes is None else new.boxes.columns
        return any(name in self.per for name in (*in_boxes, *new.known)) or any(map(self._of_parts, new.points))

    def closed(self, known: Closed) -> Closed:
        """The values that all parts have closed."""
        if known.everything or (boxes := self._boxes(known)) is None:
            return NOTHING
        return self._swept(boxes) if len(self.columns) == 1 else self._common(boxes)

    def _of_parts(self, attributes: Attributes) -> bool:
        """Whether constants on these are about parts, and about nothing besides the values."""
        return not set(self.per).isdisjoint(attributes) and {*self.per, *self.columns}.issuperset(attributes)

    def _boxes(self, known: Closed) -> Rows | None:
        """A part, and a box of values that it has closed. A wildcard in all columns: the part has ended."""
        types = {name: type.sql for name, type in self.types.items()}
        mine = as_data(known.confined((*self.per, *self.columns)), types)
        points = (self._by_points(each, rows) for each, rows in mine.points.items() if self._of_parts(each))
        return union((*points, self._by_boxes(mine.boxes)))

    def _by_points(self, attributes: Attributes, points: Rows) -> Rows:
        same = " AND ".join(f"{quote(name)} = {_part(name)}" for name in self.per if name in attributes)
        constants = {name: one_value(quote(name)) for name in self.columns if name in attributes}
        return self._with_parts(points, same, constants)

    def _by_boxes(self, boxes: Rows | None) -> Rows | None:
        own = [] if boxes is None else [name for name in self.per if name in boxes.columns]
        if boxes is None or not own:
            return None
        about_parts = boxes.where(" OR ".join(f"{quote(name)} IS NOT NULL" for name in own))
        matching = " AND ".join(inside(_part(name), quote(name)) for name in own)
        return self._with_parts(
            about_parts, matching, {name: quote(name) for name in self.columns if name in boxes.columns}
        )

    def _with_parts(self, rows: Rows, condition: str, patterns: Mapping[str, str]) -> Rows:
        parts = self.parts.project({f"part {name}": quote(name) for name in self.per})
        part = f"struct({', '.join(map(_part, self.per))})"
        wild = {name: f"CAST(NULL AS {interval_type(self.types[name].sql)})" for name in self.columns}
        return rows.join(parts, condition).project({_PART: part, **wild, **patterns})

    def _swept(self, boxes: Rows) -> Closed:
        """Of one column: a sweep over the ends of the intervals counts how many parts have closed what lies
        between two of them. A cut lies before a value or after it; one lies before, one after all values."""
        (column,) = self.columns
        box = quote(column)
        opened = {end: f"coalesce({box}.{end}, false)" for end in ENDS if end.endswith("_open")}
        intervals = boxes.project({_PART: quote(_PART), "low": f"{box}.low", "high": f"{box}.high", **opened})
        low = "struct(int(low IS NOT NULL) AS place, low AS value, low_open AS after)"
        high = "struct(IF(high IS NULL, 2, 1) AS place, high AS value, NOT high_open AS after)"
        edges = f"array(struct({low} AS cut, 1 AS step), struct({high} AS cut, -1 AS step))"
        depths = (
            joined_up(intervals, of=[_PART])
            .exploded({"edge": edges})
            .project({"cut": "edge.cut", "step": "edge.step"})
            .grouped(["cut"], {"step": "sum(step)"})
            .project(
                {
                    "first": "cut",
                    "last": "lead(cut) OVER (ORDER BY cut)",
                    "depth": "sum(step) OVER (ORDER BY cut ROWS UNBOUNDED PRECEDING)",
                }
            )
        )
        ends = ("first.value", "last.value", "first.after", "NOT last.after")
        named = ", ".join(f"{sql} AS {end}" for sql, end in zip(ends, ENDS, strict=True))
        return Closed(boxes=self._by_all(depths).project({column: f"struct({named})"}))

    def _common(self, boxes: Rows) -> Closed:
        """Of several columns: the boxes of one part that lie in a box of every other. What only the overlap of two
        boxes would give is not looked for: such parts have constants, or end."""
        wanted = {name: f"wanted {name}" for name in self.columns}
        contained = " AND ".join(
            f"({quote(name)} IS NULL OR {within(quote(own), quote(name))})" for name, own in wanted.items()
        )
        depths = (
            boxes.renamed(wanted)
            .distinct()
            .join(boxes, contained)
            .grouped(wanted.values(), {"depth": f"count(DISTINCT {quote(_PART)})"})
        )
        complete = self._by_all(depths).renamed({own: name for name, own in wanted.items()})
        single = " AND ".join(f"coalesce({_is_constant(quote(name))}, false)" for name in self.columns)
        points = complete.where(single).project({name: f"{quote(name)}.low" for name in self.columns})
        return Closed({self.columns: points}, complete.where(f"NOT ({single})").project(self._not_null()))

    def _by_all(self, depths: Rows) -> Rows:
        """What as many parts have closed as there are; they are few."""
        all_parts = self.parts.summary({"parts": "count(*)"})
        return replace(depths.join(all_parts, "depth = parts").without("parts", "depth"), small=True)

    def _not_null(self) -> dict[str, str]:
        """The columns of boxes; where all are wildcards, every value but NULL, which is none."""
        wild = " AND ".join(f"{quote(name)} IS NULL" for name in self.columns)
        every = {name: f"CAST({_NO_ENDS} AS {interval_type(self.types[name].sql)})" for name in self.columns}
        return {name: f"IF({wild}, {sql}, {quote(name)})" for name, sql in every.items()}


_NO_ENDS = "struct(NULL, NULL, false, false)"


def _part(name: str) -> str:
    return quote(f"part {name}")


def _is_constant(box: str) -> str:
    return f"({box}.low = {box}.high AND NOT {box}.low_open AND NOT {box}.high_open)"
