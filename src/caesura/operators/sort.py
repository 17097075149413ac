"""ORDER BY. emit: the prefix that is complete, in order; pass on: that prefix, as a range; keep: the rest.

The prefix is what is closed on the first key without a gap from its first value on: no row can come before it any
more. A row with NULL in the first key has no turn before the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from caesura.operators.closed import Closed, as_data, covered, uncovered
from caesura.operators.islands import as_points, islands
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.plan import SortKey
from caesura.types import Type


@dataclass(frozen=True)
class Sort:
    prompt: ClassVar[bool] = False

    table: StateTable
    keys: tuple[SortKey, ...]
    type: Type
    """Of the first key."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table,)

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        if not source.new:
            return None
        due = covered(self._open(state, source), self.prefix(source.closed))
        return None if due is None else due.ordered(map(spelled, self.keys))

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        (source,) = inputs
        held = state[self.table.name]
        if source.rows is None and held.compact and not source.new:
            return {}
        anew = held.rewrite or source.new.everything
        rows = self._open(state, source) if anew else source.rows
        return {self.table.name: Change(uncovered(rows, self.prefix(source.closed)), anew)}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        new = self.prefix(source.closed) if source.new else Closed()
        return Flow(new=new, before=self.prefix(source.before)), {}

    def _open(self, state: State, source: Flow) -> Rows | None:
        """The rows not yet emitted; those emitted may be held until the table is written anew."""
        held = state[self.table.name]
        rows = held.rows if held.compact else uncovered(held.rows, self.prefix(source.before))
        return union((rows, source.rows))

    def prefix(self, closed: Closed) -> Closed:
        """What is complete from the left, or from the right if the first key falls."""
        if closed.everything:
            return Closed(everything=True)
        first, falls = self.keys[0].column, self.keys[0].descending
        said = closed.confined((first,))
        if (
            not falls
            and said == Closed(spans=said.spans)
            and all(s.low is None for s in said.spans.get(first, ()))
        ):
            return said  # rising bounds: each of them is a prefix
        said = as_data(said, {})
        intervals = union((said.boxes, *(as_points(rows, first) for rows in said.points.values())))
        if intervals is None:
            return Closed()
        all_or_nothing = intervals.where(f"{quote(first)} IS NULL")
        joined_up = islands(intervals.present([first]), first, self.type)
        prefix = joined_up.where(f"{quote(first)}.{'high' if falls else 'low'} IS NULL")
        return Closed(boxes=union((prefix, all_or_nothing)))


def spelled(key: SortKey) -> str:
    """As Spark SQL."""
    direction = "DESC" if key.descending else "ASC"
    return f"{quote(key.column)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
