"""Punctuations that must be remembered, as state tables, and how they grow together.

They must be kept because they also rule out rows that come later (THEORY: the punctuations themselves). Closed
keys are mostly dense, so constants of an enumerable type that follow one another become one interval, and
intervals that touch become one: the store is bounded by the open keys, not by history. A punctuation on several
attributes goes when one on fewer contains it, and constants when nobody will ask for them again (`forget.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Attributes, Closed, as_data, restricting, split, uncovered
from caesura.operators.intervals import MOST, Run, interval_table, interval_type, joined, of_type, within
from caesura.operators.islands import SHORT, as_points, islands, short, wide
from caesura.operators.operator import Change, Changes, Flow, Held, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.types import Type

_COARSER = "coarser interval"


@dataclass(frozen=True)
class Store:
    """One table per attribute set in `keys`, and one of boxes for all else.

    The table of a single attribute holds intervals: those that are short are read as points, the longest are known
    to the driver. Only constants are appended to it; for anything else it is written anew. The table of several
    attributes holds points.
    """

    name: str
    types: Mapping[str, Type]
    keys: tuple[Attributes, ...]

    @cached_property
    def _names(self) -> Mapping[Attributes, str]:
        return {attributes: f"{self.name}({', '.join(attributes)})" for attributes in self.keys}

    @property
    def _boxes(self) -> str:
        return f"{self.name} otherwise"

    @property
    def tables(self) -> tuple[StateTable, ...]:
        patterns = {name: Column(name, Type(interval_type(type.sql))) for name, type in self.types.items()}
        tables = []
        for attributes, name in self._names.items():
            if len(attributes) == 1:
                (attribute,) = attributes
                intervals = (patterns[attribute],)
                tables.append(StateTable(name, intervals, "punctuations", (attribute, self.types[attribute])))
            else:
                points = tuple(Column(a, self.types[a]) for a in attributes)
                tables.append(StateTable(name, points, "punctuations"))
        return (*tables, StateTable(self._boxes, tuple(patterns.values()), "punctuations"))

    def read(self, state: State) -> Closed:
        closed = Closed(boxes=state[self._boxes].rows)
        for attributes, name in self._names.items():
            held = state[name]
            if len(attributes) > 1:
                closed |= Closed({} if held.rows is None else {attributes: held.rows})
            elif held.runs is not None:
                closed |= _as_read(attributes[0], held.runs)
            else:
                (attribute,) = attributes
                type = self.types[attribute]
                boxes = None if held.wide_known else wide(held.rows, attribute, type)
                points = short(held.rows, attribute, type)
                closed |= Closed({} if points is None else {attributes: points}, boxes)
                closed |= Closed(spans={attribute: held.spans} if held.spans else {})
        return closed

    def append(self, state: State, new: Closed) -> Changes:
        """Remember more. A table that is due to be written anew is coalesced, and goes without what a punctuation
        on fewer attributes contains."""
        changes = dict(self._appended(state, new))
        known = self.read(state) | new
        for attributes, name in self._names.items():
            change = changes.get(name)
            if change is not None and change.rewrite and len(attributes) > 1:
                points = uncovered(change.rows, _coarser(known, attributes))
                changes[name] = Change(points, rewrite=True)
        boxes = changes.get(self._boxes)
        if boxes is not None and boxes.rewrite and boxes.rows is not None:
            outside = _outside(boxes.rows, self._intervals(state, changes))
            changes[self._boxes] = Change(outside, rewrite=True)
        return changes

    def replace(self, state: State, closed: Closed) -> Changes:
        """Remember exactly this."""
        forgotten = {table.name: Held(compact=False, runs=()) for table in self.tables}
        return self._appended(State(state.spark, forgotten), closed)

    def table(self, attributes: Attributes) -> str:
        """The name of the table of these."""
        return self._names[attributes]

    def forgetting(
        self, state: State, changes: Changes, attributes: Attributes, staying: Callable[[Rows], Rows | None]
    ) -> Changes:
        """Write the table of these attributes anew, with only those of its constants that stay; ranges do."""
        name = self.table(attributes)
        rows = state.after(name, changes)
        if rows is None:
            return {}
        if len(attributes) > 1:
            return {name: Change(staying(rows), rewrite=True)}
        (attribute,) = attributes
        type = self.types[attribute]
        points = short(rows, attribute, type)
        kept = None if points is None else as_points(staying(points), attribute)
        return {name: Change(union((wide(rows, attribute, type), kept)), rewrite=True)}

    def freed(self, state: State, waiting: Closed, kept: Rows | None) -> tuple[Closed, Changes]:
        """Of what waits here and is new: what no kept row matches, and the rest to be remembered."""
        if kept is None:
            return waiting, self.replace(state, NOTHING)
        types = {name: type.sql for name, type in self.types.items()}
        free, held = split(as_data(waiting, types), kept)
        return free, self.replace(state, held)

    def _appended(self, state: State, new: Closed) -> Changes:
        runs, new = self._runs(new)
        new = as_data(new, {name: type.sql for name, type in self.types.items()})
        changes: dict[str, Change] = {}
        others = new.boxes
        for attributes, name in self._names.items():
            held, added = state[name], new.points.get(attributes)
            rewrite = held.rewrite
            if len(attributes) == 1:
                (attribute,) = attributes
                alone, others = restricting(others, attributes)
                added = union((self._points(added, attribute), None if alone is None else alone.only(attributes)))
                if added is None and attribute in runs and (known := _known(held, runs[attribute])) is not None:
                    changes[name] = Change(interval_table(attribute, known), rewrite=True, runs=known)
                    continue
                if attribute in runs:
                    added = union((added, interval_table(attribute, runs[attribute])))
                rewrite = rewrite or alone is not None or attribute in runs
            if added is None and held.compact:
                continue
            rows = union((held.rows, added)) if rewrite else added
            if rows is not None and rewrite:
                rows = islands(rows, attribute, self.types[attribute]) if len(attributes) == 1 else rows.distinct()
            changes[name] = Change(rows, rewrite)
        held = state[self._boxes]
        if others is None and held.compact:
            return changes
        if held.rewrite and (everything := union((held.rows, others))) is not None:
            others = everything.distinct()
        changes[self._boxes] = Change(others, held.rewrite)
        return changes

    def _runs(self, new: Closed) -> tuple[dict[str, tuple[Run, ...]], Closed]:
        """What is new in runs of values that this store can count, and the rest: one may equal a DECIMAL."""
        runs: dict[str, tuple[Run, ...]] = {}
        for attribute, known in new.known.items():
            if self.types[attribute].enumerable and (attribute,) in self._names:
                runs[attribute] = of_type((each for each in known if isinstance(each, Run)), self.types[attribute])
        spans = {
            name: tuple(each for each in known if name not in runs or not isinstance(each, Run))
            for name, known in new.spans.items()
        }
        apart = {name: known for name, known in new.runs.items() if name not in runs}
        rest = replace(new, spans={name: known for name, known in spans.items() if known}, runs=apart)
        return {name: known for name, known in runs.items() if known}, rest

    def _points(self, points: Rows | None, attribute: str) -> Rows | None:
        """As intervals of the type of this store: an INT may be compared with a BIGINT, and lacks values of it."""
        if points is None:
            return None
        value = f"try_cast({quote(attribute)} AS {self.types[attribute]})"
        return as_points(points.project({attribute: value}).present([attribute]).ranging(points.ranges), attribute)

    def _intervals(self, state: State, changes: Changes) -> Iterator[tuple[str, Rows]]:
        """The closed values of each attribute that has a table of its own, after the slice."""
        for attributes, name in self._names.items():
            rows = state.after(name, changes)
            if len(attributes) == 1 and rows is not None:
                yield attributes[0], rows


def passed_on(new: Closed, history: Store | None, state: State) -> tuple[Flow, Changes]:
    """What an operator gives its readers, with what it gave them before if one of them needs it. What is said of
    columns that none of them asks for is not remembered."""
    if history is None:
        return Flow(new=new), {}
    return Flow(new=new, before=history.read(state)), history.append(state, new.confined(history.types))


def _known(held: Held, new: tuple[Run, ...]) -> tuple[Run, ...] | None:
    """What a table holds with these, if the driver can tell."""
    if held.runs is None:
        return None
    known = joined((*held.runs, *new))
    return known if len(known) <= MOST else None


def _as_read(attribute: str, known: tuple[Run, ...]) -> Closed:
    """Short ones as the constants they are."""
    points = tuple(run for run in known if run.values is not None and run.values <= SHORT)
    rest = tuple(run for run in known if run not in points)
    return Closed(spans={attribute: rest} if rest else {}, runs={attribute: points} if points else {})


def _coarser(known: Closed, attributes: Attributes) -> Closed:
    """What may contain constants on these attributes: boxes, and constants on fewer."""
    inside = known.confined(attributes)
    fewer = {names: rows for names, rows in inside.points.items() if names != attributes}
    return replace(inside, points=fewer)


def _outside(boxes: Rows, intervals: Iterable[tuple[str, Rows]]) -> Rows:
    """The boxes that lie within no interval of one of their attributes."""
    for attribute, known in intervals:
        if attribute in boxes.columns:
            coarser = known.renamed({attribute: _COARSER})
            boxes = boxes.matching_on(coarser, within(quote(attribute), quote(_COARSER)), negated=True)
    return boxes
