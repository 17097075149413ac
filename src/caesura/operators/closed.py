"""What a stream has promised never to send again: punctuations as tables.

Five shapes hold every punctuation. They differ in what it costs to ask "does one of them match this row?":

- `points`: constants only. One table per attribute set; a hash join answers.
- `boxes`: anything else. One column per attribute, NULL for the wildcard, else an interval; a nested loop
  over the broadcast table answers, so it must stay small: the store's coalescing sees to that.
- `spans`: few intervals of one attribute that the driver knows, such as the rising bound of an ordered one or the
  long run of keys closed so far. A nested loop over a local table answers; it takes no job to make, and unlike
  literals in a filter it leaves the generated code as it was in the last slice, compiled and warm.
- `runs`: constants of one attribute that follow one another, known to the driver. They are asked as spans are, and
  each is a punctuation by itself, as a point is.
- `everything`: the stream has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import TypeVar

from caesura.operators.intervals import (
    HANDFUL,
    Run,
    Span,
    Stretch,
    against_spans,
    each_value,
    inside,
    inside_some,
    interval_table,
    interval_type,
    meet,
    outside_some,
    together,
)
from caesura.operators.rows import Ends, Rows, quote, union, values

Attributes = tuple[str, ...]


@dataclass(frozen=True)
class Closed:
    points: Mapping[Attributes, Rows] = field(default_factory=dict)
    boxes: Rows | None = None
    spans: Mapping[str, tuple[Stretch, ...]] = field(default_factory=dict)
    everything: bool = False
    runs: Mapping[str, tuple[Run, ...]] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    """Where what is compared with the patterns on an attribute is not the column of that name."""

    def __bool__(self) -> bool:
        """Whether there may be a punctuation at all."""
        return bool(self.points or self.boxes is not None or self.spans or self.runs or self.everything)

    def __or__(self, later: Closed) -> Closed:
        """The punctuations of both."""
        points = {
            attributes: rows
            for attributes in {**self.points, **later.points}
            if (rows := union((self.points.get(attributes), later.points.get(attributes)))) is not None
        }
        return Closed(
            points,
            union((self.boxes, later.boxes)),
            _both(self.spans, later.spans),
            self.everything or later.everything,
            _both(self.runs, later.runs),
            {**self.terms, **later.terms},
        )

    def one_by_one(self, only: str | None = None) -> Closed:
        """The same with points in the place of runs, of all attributes or of one."""
        apart = {name: runs for name, runs in self.runs.items() if only in (None, name)}
        points = Closed({(name,): each_value(name, runs) for name, runs in apart.items()})
        return replace(self, runs={name: runs for name, runs in self.runs.items() if name not in apart}) | points

    def in_runs(self) -> Closed:
        """The same without the bounds of ordered columns, which are known otherwise."""
        runs = {name: tuple(each for each in known if isinstance(each, Run)) for name, known in self.spans.items()}
        return replace(self, spans={name: known for name, known in runs.items() if known})

    @property
    def known(self) -> Mapping[str, tuple[Stretch, ...]]:
        """What the driver knows, by attribute."""
        return {name: together(known) for name, known in _both(self.spans, self.runs).items()}

    @property
    def at_hand(self) -> bool:
        """Whether it is a condition on a row by itself: a handful that the driver knows, and nothing in tables."""
        few = all(len(known) <= HANDFUL for known in self.known.values())
        return bool(self) and few and not self.points and self.boxes is None

    def near(self, ranges: Mapping[str, Ends]) -> Closed:
        """Those that may match a row whose columns have values between these ends, and what they say of such rows.
        The others need not be asked, nor even be read."""
        between = {name: ends for name, ends in ranges.items() if name not in self.terms}
        points = {
            names: rows
            for names, rows in self.points.items()
            if all(
                meet(between[name], rows.ranges[name]) for name in between.keys() & rows.ranges.keys() & {*names}
            )
        }
        return replace(self, points=points, spans=_near(self.spans, between), runs=_near(self.runs, between))

    def term(self, attribute: str) -> str:
        """What is compared with the patterns on an attribute, as SQL."""
        return self.terms.get(attribute, quote(attribute))

    def mapped(self, change: Callable[[Rows, str], Rows]) -> Closed:
        """The same with each table replaced; it comes with a name of what it holds."""
        points = {names: change(rows, f"({', '.join(names)})") for names, rows in self.points.items()}
        boxes = None if self.boxes is None else change(self.boxes, "otherwise")
        return replace(self, points=points, boxes=boxes)

    def confined(self, attributes: Iterable[str]) -> Closed:
        """Those with a wildcard on every attribute outside: they speak of whole keys or whole groups."""
        inside = frozenset(attributes)
        points = {names: rows for names, rows in self.points.items() if inside.issuperset(names)}
        spans = {name: known for name, known in self.spans.items() if name in inside}
        boxes = self.boxes
        if boxes is not None:
            kept = [name for name in boxes.columns if name in inside]
            dropped = [name for name in boxes.columns if name not in inside]
            for name in dropped:
                boxes = boxes.where(f"{quote(name)} IS NULL")
            boxes = boxes.only(kept)
        runs = {name: known for name, known in self.runs.items() if name in inside}
        return Closed(points, boxes, spans, self.everything, runs)

    def renamed(self, names: Mapping[str, str]) -> Closed:
        """Under other names; what speaks of an attribute without a new name is left out.

        Two attributes that get one name have one value: "x = 1 and y = 1" speaks of it, "x = 1 and y = 2" not.
        """
        kept = self.confined(names)
        renamed = Closed(boxes=_boxes_renamed(kept.boxes, names), everything=kept.everything)
        for attributes, rows in kept.points.items():
            first: dict[str, str] = {}
            for a in attributes:
                if first.setdefault(names[a], a) != a:
                    rows = rows.where(f"{quote(a)} = {quote(first[names[a]])}")
            renamed |= Closed({tuple(first): rows.renamed({old: new for new, old in first.items()})})
        for name, known in kept.spans.items():
            renamed |= Closed(spans={names[name]: known})
        for name, runs in kept.runs.items():
            renamed |= Closed(runs={names[name]: runs})
        return renamed

    def up_to(self, ends: Mapping[str, str]) -> Closed:
        """What they say of all rows in which these attributes are at most so much (as SQL): a pattern on one of
        them must be open to the left."""
        points = {names: rows for names, rows in self.points.items() if not ends.keys() & set(names)}
        spans = {
            name: tuple(span for span in known if span.low is None or name not in ends)
            for name, known in self.spans.items()
        }
        boxes = self.boxes
        if boxes is not None:
            for name in ends.keys() & set(boxes.columns):
                boxes = boxes.where(f"{quote(name)}.low IS NULL")
        runs = {name: known for name, known in self.runs.items() if name not in ends}
        return Closed(
            points, boxes, {n: known for n, known in spans.items() if known}, self.everything, runs, ends
        )

    def where(self, constants: Mapping[str, str]) -> Closed:
        """What they say of the rows in which each of these attributes has this value (as SQL)."""
        closed = self
        for attribute, value in constants.items():
            closed = closed._where(attribute, value)
        return closed

    def _where(self, attribute: str, value: str) -> Closed:
        def said(boxes: Rows) -> Rows:
            return boxes.where(inside(value, quote(attribute))).without(attribute)

        boxes = self.boxes
        if boxes is not None and attribute in boxes.columns:
            boxes = said(boxes)
        points = {names: rows for names, rows in self.points.items() if attribute not in names}
        spans = {name: known for name, known in self.spans.items() if name != attribute}
        runs = {name: known for name, known in self.runs.items() if name != attribute}
        fixed = Closed(points, boxes, spans, self.everything, runs)
        if attribute in self.known:
            fixed |= Closed(boxes=said(interval_table(attribute, self.known[attribute])))
        for names, rows in self.points.items():
            if attribute in names:
                rest = tuple(name for name in names if name != attribute)
                matching = rows.where(f"{quote(attribute)} = {value}").only(rest)
                fixed |= Closed({rest: matching}) if rest else Closed(boxes=matching)
        return fixed


NOTHING = Closed()

_T = TypeVar("_T")
_S = TypeVar("_S", Span, Run, Stretch)


def _both(one: Mapping[str, Iterable[_T]], other: Mapping[str, Iterable[_T]]) -> dict[str, tuple[_T, ...]]:
    """Without repetition."""
    return {name: tuple(dict.fromkeys((*one.get(name, ()), *other.get(name, ())))) for name in {**one, **other}}


def _near(known: Mapping[str, tuple[_S, ...]], ranges: Mapping[str, Ends]) -> dict[str, tuple[_S, ...]]:
    def near(name: str, spans: tuple[_S, ...]) -> tuple[_S, ...]:
        if (ends := ranges.get(name)) is None:
            return spans
        return tuple(each.between(ends) for each in spans if each.meets(ends))

    return {name: found for name, spans in known.items() if (found := near(name, spans))}


def _boxes_renamed(boxes: Rows | None, names: Mapping[str, str]) -> Rows | None:
    if boxes is None:
        return None
    olds: dict[str, list[str]] = {}
    for name in boxes.columns:
        olds.setdefault(names[name], []).append(quote(name))
    for several in olds.values():
        for one, other in combinations(several, 2):
            boxes = boxes.where(f"{one} IS NULL OR {other} IS NULL OR {one} = {other}")
    return boxes.project({new: f"coalesce({', '.join(several)})" for new, several in olds.items()})


def in_order(columns: Iterable[str], attributes: Iterable[str]) -> Attributes:
    """An attribute set in the order of the columns, so that it has one spelling."""
    given = frozenset(attributes)
    return tuple(name for name in columns if name in given)


def uncovered(rows: Rows | None, closed: Closed) -> Rows | None:
    """The rows that no punctuation matches (Tucker's setNomatchTs)."""
    if rows is None or closed.everything:
        return None
    closed = closed.near(rows.ranges)
    for attribute, spans in closed.known.items():
        if attribute in rows.filled - closed.terms.keys() and any(span.endless for span in spans):
            return None
        rows = against_spans(rows, closed.term(attribute), spans, negated=True)
    for attributes, points in closed.points.items():
        rows = rows.matching(points, attributes, negated=True)
    if closed.boxes is not None:
        rows = against_boxes(rows, closed.boxes, closed.terms, negated=True)
    return rows


def uncovered_by_some(rows: Rows | None, several: Sequence[Closed]) -> Rows | None:
    """The rows that one of these leaves uncovered, where each is what the driver knows of one attribute."""
    asked: list[tuple[str, tuple[Stretch, ...]]] = []
    for closed in several:
        if closed.everything or rows is None:
            continue
        if not (known := closed.near(rows.ranges).known):
            return rows
        asked += ((closed.term(attribute), spans) for attribute, spans in known.items())
    return None if rows is None or not asked else outside_some(rows, asked)


def covered(rows: Rows | None, closed: Closed) -> Rows | None:
    """The rows that some punctuation matches, each once (setMatchTs)."""
    if rows is None or closed.everything:
        return rows
    found: list[Rows] = []
    closed = closed.near(rows.ranges)
    if closed.at_hand:
        return inside_some(rows, [(closed.term(name), spans) for name, spans in closed.known.items()])
    for attribute, spans in closed.known.items():
        found.append(against_spans(rows, closed.term(attribute), spans))
        rows = against_spans(rows, closed.term(attribute), spans, negated=True)
    for attributes, points in closed.points.items():
        found.append(rows.matching(points, attributes))
        rows = rows.matching(points, attributes, negated=True)
    if closed.boxes is not None:
        found.append(against_boxes(rows, closed.boxes, closed.terms))
    return union(found)


def split(closed: Closed, rows: Rows | None) -> tuple[Closed, Closed]:
    """The punctuations that match none of the rows (setNomatchPs), and the others.

    All of it must be data (`as_data`).
    """
    if rows is None:
        return closed, NOTHING
    free: dict[Attributes, Rows] = {}
    held: dict[Attributes, Rows] = {}
    for attributes, points in closed.points.items():
        free[attributes] = points.matching(rows, attributes, negated=True)
        held[attributes] = points.matching(rows, attributes)
    if closed.boxes is None:
        return Closed(free), Closed(held)
    matched = _matched_boxes(rows, closed.boxes)
    named = _with_box_id(closed.boxes)
    names = closed.boxes.columns
    return (
        Closed(free, named.matching(matched, [_BOX_ID], negated=True).only(names)),
        Closed(held, named.matching(matched, [_BOX_ID]).only(names)),
    )


def restricting(boxes: Rows | None, attributes: Attributes) -> tuple[Rows | None, Rows | None]:
    """The boxes that restrict these attributes and no others, and the rest."""
    if boxes is None or not set(attributes).issubset(boxes.columns):
        return None, boxes
    condition = " AND ".join(
        f"{quote(name)} IS {'NOT NULL' if name in attributes else 'NULL'}" for name in boxes.columns
    )
    return boxes.where(condition), boxes.where(f"NOT ({condition})")


def as_data(closed: Closed, types: Mapping[str, str]) -> Closed:
    """The same as tables: runs as points, spans and `everything` as boxes; the wildcards of `everything` are on
    the attributes of `types`."""
    closed = closed.one_by_one()
    boxes: list[Rows | None] = [closed.boxes]
    boxes += (interval_table(attribute, spans) for attribute, spans in closed.spans.items())
    if closed.everything:
        boxes.append(values({name: f"CAST(NULL AS {interval_type(sql)})" for name, sql in types.items()}))
    return Closed(closed.points, union(boxes))


_BOX_ID = "id of a box"


def against_boxes(
    rows: Rows, boxes: Rows, terms: Mapping[str, str] = MappingProxyType({}), *, negated: bool = False
) -> Rows:
    """The rows that some box matches, or that none does."""
    renamed, condition = _boxed(boxes, terms)
    return rows.matching_on(renamed, condition, negated=negated)


def _matched_boxes(rows: Rows, boxes: Rows) -> Rows:
    """The ids of the boxes that match a row: joined from the rows' side, so that the boxes are broadcast."""
    renamed, condition = _boxed(_with_box_id(boxes), {})
    return rows.join(renamed, condition).only([_BOX_ID]).distinct()


def _boxed(boxes: Rows, terms: Mapping[str, str]) -> tuple[Rows, str]:
    """The boxes under names of their own, and the condition that a row matches one."""
    own = {name: f"box {name}" for name in boxes.columns if name != _BOX_ID}
    condition = " AND ".join(inside(terms.get(n, quote(n)), quote(box)) for n, box in own.items()) or "true"
    return boxes.renamed({name: own.get(name, name) for name in boxes.columns}), condition


def _with_box_id(boxes: Rows) -> Rows:
    return boxes.extended({_BOX_ID: f"to_json(struct({', '.join(map(quote, boxes.columns)) or '1'}))"})
