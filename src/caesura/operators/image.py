"""What is closed of a column is closed of an expression that rises with it: punctuations on the one as such on the
other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from caesura.operators.closed import Closed
from caesura.operators.intervals import Span, Stretch
from caesura.operators.rows import Rows, quote


@dataclass(frozen=True)
class Image:
    """Where a column goes: to a column of the same name in another table, or through a rising expression."""

    name: str
    type: str
    at: Callable[[str, Literal["low", "high"]], str] | None = None
    """The expression at that end of a range, as SQL; NULL where it has none. None: the value itself."""
    strict: bool = True
    """Whether different values give different ones. If not, the value at the end of a range may come again from
    beyond it."""
    least: str | None = None
    """What is said of the expression begins here, where it has no beginning (SQL)."""

    def of(self, closed: Closed, column: str) -> Closed:
        """The same, saying of the expression, under the column's name, what was said of the column."""
        if self.at is None:
            return closed
        points, closed = {}, closed.one_by_one(column)
        for attributes, rows in closed.points.items():
            if column not in attributes:
                points[attributes] = rows
            elif self.strict:
                image = {**{name: quote(name) for name in attributes}, column: self.at(quote(column), "high")}
                points[attributes] = rows.project(image).present([column])
        spans = {
            name: tuple(map(self._of_span, known)) if name == column else known
            for name, known in closed.spans.items()
        }
        boxes = closed.boxes
        if boxes is not None and column in boxes.columns:
            boxes = self._of_boxes(boxes, column)
        return Closed(points, boxes, spans, closed.everything, closed.runs)

    def _of_span(self, span: Stretch) -> Span:
        assert self.at is not None
        low = self.least if span.low is None else self.at(span.low, "low")
        high = None if span.high is None else self.at(span.high, "high")
        opens = (span.high_open, span.low_open) if self.strict else (high is not None, span.low is not None)
        return Span(self.type, low, high, *opens, sure=False)

    def _of_boxes(self, boxes: Rows, column: str) -> Rows:
        assert self.at is not None
        box = quote(column)
        low, high = self.at(f"{box}.low", "low"), self.at(f"{box}.high", "high")
        opens = f"{box}.low_open AS low_open, {box}.high_open AS high_open"
        if not self.strict:
            opens = f"{box}.low IS NOT NULL AS low_open, {box}.high IS NOT NULL AS high_open"
        # An end that has no value under the expression must not be taken for no end.
        known = f"({box}.low IS NULL OR {low} IS NOT NULL) AND ({box}.high IS NULL OR {high} IS NOT NULL)"
        low = low if self.least is None else f"coalesce({low}, {self.least})"
        image = f"IF({box} IS NULL, NULL, struct({low} AS low, {high} AS high, {opens}))"
        kept = {name: quote(name) for name in boxes.columns}
        return boxes.where(f"{box} IS NULL OR ({known})").project({**kept, column: image})
