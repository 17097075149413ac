"""Where everything stands in the picture of a punctuation graph: inputs on a ring, arrows, labels.

Points are complex numbers, y down, and 0 is the middle of the ring.
"""

from __future__ import annotations

from cmath import rect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import pi, sin
from textwrap import wrap
from unicodedata import east_asian_width

from caesura.explain.document import GraphEdge, GraphNode

_NAME, _LABEL = 7.9, 6.7
"""Pixels per character at 13 and 11 px: a monospaced font, so that the estimate holds."""
LINE = 14.0
_LONGEST_NAME, _LONGEST_LINE, _SHORT = 12, 46, 30
MOST = 40
"""With more inputs or arrows than that a picture has no room for labels; they are shown on hovering."""
_SCALES = (1.0, 1.15, 1.3, 1.5, 1.75, 2.05)
"""A crowded ring is drawn larger, in these steps."""


@dataclass(frozen=True)
class Box:
    middle: complex
    width: float
    height: float

    @property
    def corners(self) -> tuple[complex, complex]:
        half = complex(self.width, self.height) / 2
        return self.middle - half, self.middle + half

    def holds(self, point: complex) -> bool:
        apart = self.middle - point
        return 2 * abs(apart.real) < self.width and 2 * abs(apart.imag) < self.height

    def shared(self, other: Box) -> float:
        """Zero if the two are apart; more, the more they cover of each other."""
        apart = self.middle - other.middle
        wide = (self.width + other.width) / 2 - abs(apart.real)
        high = (self.height + other.height) / 2 - abs(apart.imag)
        return wide * high if min(wide, high) > 0 else 0.0


@dataclass(frozen=True)
class Curve:
    """A quadratic Bézier curve; straight if `control` is in the middle."""

    start: complex
    control: complex
    end: complex

    def at(self, t: float) -> complex:
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t**2 * self.end

    @cached_property
    def points(self) -> tuple[complex, ...]:
        return tuple(self.at(t / 12) for t in range(13))


@dataclass(frozen=True)
class Arrow:
    """All edges with the same sources and target: one line in the picture."""

    sources: tuple[str, ...]
    target: str
    edges: tuple[GraphEdge, ...]

    @property
    def text(self) -> str:
        labels = "; ".join(f"{each['scheme']}, {each['predicate']}" for each in self.edges)
        return f"{', '.join(self.sources) or 'constant'} → {self.target}: {labels}"

    @cached_property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Classes and texts of the label."""
        return tuple(
            (kind, line)
            for each in self.edges
            for kind, texts in (("scheme", [each["scheme"]]), ("predicate", _conjuncts(each["predicate"])))
            for text in texts
            for line in wrap(text, _LONGEST_LINE)
        )

    @cached_property
    def label(self) -> Box:
        widest = max((_columns(line) for _, line in self.lines), default=0)
        return Box(0j, widest * _LABEL + 10, len(self.lines) * LINE + 4)


@dataclass(frozen=True)
class Route:
    """How an arrow goes: `tails` meet in `dot`, from where `curve` leads to the target.

    `dot` is the junction of several sources, or stands for a constant; an arrow from one source has none.
    """

    arrow: Arrow
    curve: Curve
    tails: tuple[Curve, ...] = ()
    dot: complex | None = None

    @property
    def points(self) -> Iterator[complex]:
        return (point for each in (self.curve, *self.tails) for point in each.points)

    def label_places(self) -> Iterator[Box]:
        """Where the label may stand, best first: on the curve, or beside the dot."""
        label = self.arrow.label
        if self.dot is None:
            for t in (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75):
                yield replace(label, middle=self.curve.at(t))
            return
        back = unit(self.dot - self.curve.end)
        for far in (9, 24):
            for side in (1j, -1j, 1, -1, back) if self.tails else (back, 1, -1):
                yield replace(label, middle=self.dot + side * (far + _reach(label, side)))


@dataclass(frozen=True)
class Layout:
    radius: float
    places: dict[str, complex]

    def outwards(self, name: str) -> complex:
        """Away from the ring, where nothing is; up, if there is hardly a ring."""
        return unit(self.places[name]) if len(self.places) > 2 else -1j


@dataclass(frozen=True)
class Picture:
    """`labels`: a place for the label of each route, or nothing at all. `hidden`: how much they cover."""

    layout: Layout
    routes: tuple[Route, ...]
    labels: tuple[Box, ...] = ()
    hidden: float = 0.0

    @property
    def extent(self) -> tuple[complex, complex]:
        """The left upper and the right lower corner of all that is drawn, with a margin."""
        side = 2 * self.layout.radius + 16
        nodes = (Box(place, side, side) for place in self.layout.places.values())
        points = [corner for box in chain(nodes, self.labels) for corner in box.corners]
        points += (point for route in self.routes for point in route.curve.points)
        xs, ys = [each.real for each in points], [each.imag for each in points]
        return complex(min(xs) - 8, min(ys) - 8), complex(max(xs) + 8, max(ys) + 8)


def arrows_of(edges: Iterable[GraphEdge]) -> list[Arrow]:
    found: dict[tuple[tuple[str, ...], str], list[GraphEdge]] = {}
    for edge in edges:
        found.setdefault((tuple(edge["sources"]), edge["target"]), []).append(edge)
    return [Arrow(sources, target, tuple(several)) for (sources, target), several in found.items()]


def picture_of(nodes: Sequence[GraphNode], arrows: Sequence[Arrow]) -> Picture:
    """The smallest ring on which every label finds room, or else the one with the least hidden."""
    if len(nodes) > MOST or len(arrows) > MOST:
        layout = _layout(nodes, 0.0, 1.0)
        return Picture(layout, tuple(_routes(arrows, layout)))
    widest = max((arrow.label.width for arrow in arrows), default=0.0)
    pictures: list[Picture] = []
    for scale in _SCALES:
        layout = _layout(nodes, widest, scale)
        pictures.append(_labelled(layout, tuple(_routes(arrows, layout))))
        if not pictures[-1].hidden:
            break
    return min(pictures, key=lambda each: each.hidden)


def _conjuncts(predicate: str) -> list[str]:
    """A short predicate is one line, a long one a line for each conjunct."""
    return [predicate] if len(predicate) <= _SHORT else predicate.replace(" AND ", " AND\n").split("\n")


def _layout(nodes: Sequence[GraphNode], label: float, scale: float) -> Layout:
    """Equal steps on a ring that is wider than high, because labels are; neighbours are always apart."""
    texts = (zip((_NAME, _LABEL), node_texts(node), strict=False) for node in nodes)
    widest = max((width * _columns(text) for several in texts for width, text in several), default=0.0)
    radius = max(26.0, widest / 2 + 8)
    names, count = [node["input"] for node in nodes], len(nodes)
    if count <= 2:
        half = radius + scale * max(label / 2 + 30, 80.0) if count == 2 else 0.0
        return Layout(radius, dict(zip(names, (complex(-half), complex(half)), strict=False)))
    step = 2 * sin(pi / count)
    least = (2 * radius + 24) / step
    wide = max(least, scale * (2 * radius + 40 + label * min(1.0, 5 / count)) / step)
    high = max(least, (0.62 + 0.8 / count) * wide)
    turns = (rect(1, 2 * pi * i / count - pi / 2) for i in range(count))
    places = (complex(wide * turn.real, high * turn.imag) for turn in turns)
    return Layout(radius, dict(zip(names, places, strict=True)))


def _routes(arrows: Sequence[Arrow], layout: Layout) -> Iterator[Route]:
    places, radius = layout.places, layout.radius
    known = {(arrow.sources, arrow.target) for arrow in arrows}
    taken: list[complex] = []
    for arrow in arrows:
        target = places[arrow.target]
        match arrow.sources:
            case ():
                dot = target + (radius + 40) * layout.outwards(arrow.target)
                yield Route(arrow, _curve(dot, target, 0, 3, radius + 2), (), dot)
            case (source,):
                bend = _bend(places[source], target, arrow) if ((arrow.target,), source) in known else 0
                yield Route(arrow, _curve(places[source], target, bend, radius, radius + 2))
            case sources:
                dot = _junction([places[each] for each in sources], target, taken, layout)
                taken.append(dot)
                tails = tuple(_curve(places[each], dot, 0, radius, 0) for each in sources)
                yield Route(arrow, _curve(dot, target, 0, 3, radius + 2), tails, dot)


def _curve(start: complex, end: complex, bend: complex, before: float, after: float) -> Curve:
    """A curve whose middle is `bend` away from the straight line, without its ends, which nodes cover."""
    control = (start + end) / 2 + 2 * bend
    first = start + before * unit(control - start)
    last = end + after * unit(control - end)
    return Curve(first, control if bend else (first + last) / 2, last)


def _bend(start: complex, end: complex, arrow: Arrow) -> complex:
    """To the left of the direction, with room for the label, so that the arrow back goes on the other side."""
    aside = unit(end - start) * -1j
    return aside * min(_reach(arrow.label, aside) + 8, max(0.14 * abs(end - start), 26.0))


def _junction(sources: Sequence[complex], target: complex, taken: Sequence[complex], layout: Layout) -> complex:
    """Between the sources and the target, at the nearest point that is clear of inputs and other junctions."""
    wish = 0.6 * sum(sources) / len(sources) + 0.4 * target
    for ring in range(60):
        for turn in range(12 if ring else 1):
            point = wish + rect(9 * ring, 2 * pi * turn / 12)
            free = all(abs(point - place) > layout.radius + 34 for place in layout.places.values())
            if free and all(abs(point - other) > 26 for other in taken):
                return point
    return wish


def _labelled(layout: Layout, routes: tuple[Route, ...]) -> Picture:
    """Each label in turn takes the place where it hides least of what is there already."""
    side = 2 * layout.radius + 6
    covered = [Box(place, side, side) for place in layout.places.values()]
    covered += (Box(route.dot, 10, 10) for route in routes if route.dot is not None)
    covered += (Box(route.curve.end, 14, 14) for route in routes)
    labels: list[Box] = []
    total = 0.0
    for route in routes:
        own = route.curve.points
        others = [point for each in routes if each is not route for point in each.points]

        def hidden(box: Box, own: Sequence[complex] = own) -> float:
            unseen = sum(map(box.holds, own)) / len(own)
            return sum(map(box.shared, covered)) + 1000 * max(0.0, unseen - 0.7)

        def crossed(box: Box, others: Sequence[complex] = others) -> float:
            return 20.0 * sum(map(box.holds, others))

        best = min(route.label_places(), key=lambda box: hidden(box) + crossed(box))
        total += hidden(best)
        covered.append(replace(best, width=best.width + 8, height=best.height + 8))
        labels.append(best)
    return Picture(layout, routes, tuple(labels), total)


def node_texts(node: GraphNode) -> list[str]:
    """The input and, if it says more, the relation; of an input that is an operator, the first word is enough."""
    several = dict.fromkeys((node["input"], node["relation"].partition(" ")[0]))
    return [text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…" for text in several]


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _reach(box: Box, side: complex) -> float:
    """How far a box extends from its middle in a direction."""
    return abs(side.real) * box.width / 2 + abs(side.imag) * box.height / 2


def unit(vector: complex) -> complex:
    return vector / abs(vector) if vector else 1 + 0j
