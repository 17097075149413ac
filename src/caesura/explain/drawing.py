"""The punctuation graph of a join as a picture: an SVG that needs nothing around it.

Points are complex numbers, y down, and 0 is the middle of the ring that the inputs stand on.
"""

from __future__ import annotations

from cmath import rect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import chain
from math import pi, sin
from textwrap import wrap
from unicodedata import east_asian_width

from caesura.explain.document import Graph, GraphEdge, GraphNode

LIGHT = (
    "--ink: #1c2126; --soft: #5b6570; --line: #77818c; --paper: #ffffff; --wash: #f4f6f8; --rule: #d8dde2;"
    " --good: #1a6b3c; --bad: #b3261e"
)
DARK = (
    "--ink: #e4e7ea; --soft: #a2abb5; --line: #87919c; --paper: #15181c; --wash: #20252b; --rule: #39414a;"
    " --good: #7fd1a0; --bad: #ff8b80"
)

_STYLE = f"""
.punctuation-graph {{ {LIGHT}; font: 11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace }}
@media screen and (prefers-color-scheme: dark) {{ .punctuation-graph {{ {DARK} }} }}
.punctuation-graph text {{ fill: var(--ink); text-anchor: middle }}
.punctuation-graph .shape {{ fill: var(--wash); stroke: var(--ink); stroke-width: 1.5 }}
.punctuation-graph .static .shape {{ stroke: var(--soft); stroke-dasharray: 5 3 }}
.punctuation-graph .grows .shape {{ stroke: var(--bad); stroke-width: 2.5 }}
.punctuation-graph .grows .name {{ fill: var(--bad) }}
.punctuation-graph .mark {{ fill: var(--bad) }}
.punctuation-graph .mark-text {{ fill: var(--paper); font-size: 13px; font-weight: 700 }}
.punctuation-graph .name {{ font-size: 13px; font-weight: 600 }}
.punctuation-graph .relation, .punctuation-graph .predicate {{ fill: var(--soft) }}
.punctuation-graph .line {{ fill: none; stroke: var(--line); stroke-width: 1.4 }}
.punctuation-graph .head, .punctuation-graph .dot {{ fill: var(--line) }}
.punctuation-graph .paper {{ fill: var(--paper) }}
"""

_NAME, _LABEL = 7.9, 6.7
"""Pixels per character at 13 and 11 px: a monospaced font, so that the estimate holds."""
_LINE = 14.0
_LONGEST_NAME, _LONGEST_LINE, _SHORT = 12, 46, 30
_MOST = 40
"""With more inputs or arrows than that a picture has no room for labels; they are shown on hovering."""
_SCALES = (1.0, 1.15, 1.3, 1.5, 1.75, 2.05)
"""A crowded ring is drawn larger, in these steps."""


@dataclass(frozen=True)
class _Box:
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

    def shared(self, other: _Box) -> float:
        """Zero if the two are apart; more, the more they cover of each other."""
        apart = self.middle - other.middle
        wide = (self.width + other.width) / 2 - abs(apart.real)
        high = (self.height + other.height) / 2 - abs(apart.imag)
        return wide * high if min(wide, high) > 0 else 0.0


@dataclass(frozen=True)
class _Curve:
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
class _Arrow:
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
    def label(self) -> _Box:
        widest = max((_columns(line) for _, line in self.lines), default=0)
        return _Box(0j, widest * _LABEL + 10, len(self.lines) * _LINE + 4)


@dataclass(frozen=True)
class _Route:
    """How an arrow goes: `tails` meet in `dot`, from where `curve` leads to the target.

    `dot` is the junction of several sources, or stands for a constant; an arrow from one source has none.
    """

    arrow: _Arrow
    curve: _Curve
    tails: tuple[_Curve, ...] = ()
    dot: complex | None = None

    @property
    def points(self) -> Iterator[complex]:
        return (point for each in (self.curve, *self.tails) for point in each.points)

    def label_places(self) -> Iterator[_Box]:
        """Where the label may stand, best first: on the curve, or beside the dot."""
        label = self.arrow.label
        if self.dot is None:
            for t in (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75):
                yield replace(label, middle=self.curve.at(t))
            return
        back = _unit(self.dot - self.curve.end)
        for far in (9, 24):
            for side in (1j, -1j, 1, -1, back) if self.tails else (back, 1, -1):
                yield replace(label, middle=self.dot + side * (far + _reach(label, side)))


@dataclass(frozen=True)
class _Layout:
    radius: float
    places: dict[str, complex]

    def outwards(self, name: str) -> complex:
        """Away from the ring, where nothing is; up, if there is hardly a ring."""
        return _unit(self.places[name]) if len(self.places) > 2 else -1j


@dataclass(frozen=True)
class _Picture:
    """`labels`: a place for the label of each route, or nothing at all. `hidden`: how much they cover."""

    layout: _Layout
    routes: tuple[_Route, ...]
    labels: tuple[_Box, ...] = ()
    hidden: float = 0.0

    @property
    def extent(self) -> tuple[complex, complex]:
        """The left upper and the right lower corner of all that is drawn, with a margin."""
        side = 2 * self.layout.radius + 16
        nodes = (_Box(place, side, side) for place in self.layout.places.values())
        points = [corner for box in chain(nodes, self.labels) for corner in box.corners]
        points += (point for route in self.routes for point in route.curve.points)
        xs, ys = [each.real for each in points], [each.imag for each in points]
        return complex(min(xs) - 8, min(ys) - 8), complex(max(xs) + 8, max(ys) + 8)


def draw(graph: Graph) -> str:
    """Inputs are circles, static ones dashed squares; what grows without bound is red and carries ∞."""
    arrows = _arrows(graph["edges"])
    picture = _picture(graph["nodes"], arrows)
    labels = zip(arrows, picture.labels, strict=True) if picture.labels else ()
    shapes = chain(
        map(_route_svg, picture.routes),
        (_node_svg(node, picture.layout) for node in graph["nodes"]),
        (_label_svg(arrow, box) for arrow, box in labels),
    )
    corner, opposite = picture.extent
    size = opposite - corner
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="punctuation-graph" role="img"'
        f' width="{size.real:.0f}" height="{size.imag:.0f}"'
        f' viewBox="{corner.real:.0f} {corner.imag:.0f} {size.real:.0f} {size.imag:.0f}">'
        f"<title>Punctuation graph of {escape(graph['operator'])}</title>"
        f"<desc>{escape(_description(graph['nodes'], arrows))}</desc>"
        f"<style>{_STYLE}</style>" + "\n".join(shapes) + "</svg>"
    )


def _arrows(edges: Iterable[GraphEdge]) -> list[_Arrow]:
    found: dict[tuple[tuple[str, ...], str], list[GraphEdge]] = {}
    for edge in edges:
        found.setdefault((tuple(edge["sources"]), edge["target"]), []).append(edge)
    return [_Arrow(sources, target, tuple(several)) for (sources, target), several in found.items()]


def _picture(nodes: Sequence[GraphNode], arrows: Sequence[_Arrow]) -> _Picture:
    """The smallest ring on which every label finds room, or else the one with the least hidden."""
    if len(nodes) > _MOST or len(arrows) > _MOST:
        layout = _layout(nodes, 0.0, 1.0)
        return _Picture(layout, tuple(_routes(arrows, layout)))
    widest = max((arrow.label.width for arrow in arrows), default=0.0)
    pictures: list[_Picture] = []
    for scale in _SCALES:
        layout = _layout(nodes, widest, scale)
        pictures.append(_labelled(layout, tuple(_routes(arrows, layout))))
        if not pictures[-1].hidden:
            break
    return min(pictures, key=lambda each: each.hidden)


def _conjuncts(predicate: str) -> list[str]:
    """A short predicate is one line, a long one a line for each conjunct."""
    return [predicate] if len(predicate) <= _SHORT else predicate.replace(" AND ", " AND\n").split("\n")


def _layout(nodes: Sequence[GraphNode], label: float, scale: float) -> _Layout:
    """Equal steps on a ring that is wider than high, because labels are; neighbours are always apart."""
    texts = (zip((_NAME, _LABEL), _node_texts(node), strict=False) for node in nodes)
    widest = max((width * _columns(text) for several in texts for width, text in several), default=0.0)
    radius = max(26.0, widest / 2 + 8)
    names, count = [node["input"] for node in nodes], len(nodes)
    if count <= 2:
        half = radius + scale * max(label / 2 + 30, 80.0) if count == 2 else 0.0
        return _Layout(radius, dict(zip(names, (complex(-half), complex(half)), strict=False)))
    step = 2 * sin(pi / count)
    least = (2 * radius + 24) / step
    wide = max(least, scale * (2 * radius + 40 + label * min(1.0, 5 / count)) / step)
    high = max(least, (0.62 + 0.8 / count) * wide)
    turns = (rect(1, 2 * pi * i / count - pi / 2) for i in range(count))
    places = (complex(wide * turn.real, high * turn.imag) for turn in turns)
    return _Layout(radius, dict(zip(names, places, strict=True)))


def _routes(arrows: Sequence[_Arrow], layout: _Layout) -> Iterator[_Route]:
    places, radius = layout.places, layout.radius
    known = {(arrow.sources, arrow.target) for arrow in arrows}
    taken: list[complex] = []
    for arrow in arrows:
        target = places[arrow.target]
        match arrow.sources:
            case ():
                dot = target + (radius + 40) * layout.outwards(arrow.target)
                yield _Route(arrow, _curve(dot, target, 0, 3, radius + 2), (), dot)
            case (source,):
                bend = _bend(places[source], target, arrow) if ((arrow.target,), source) in known else 0
                yield _Route(arrow, _curve(places[source], target, bend, radius, radius + 2))
            case sources:
                dot = _junction([places[each] for each in sources], target, taken, layout)
                taken.append(dot)
                tails = tuple(_curve(places[each], dot, 0, radius, 0) for each in sources)
                yield _Route(arrow, _curve(dot, target, 0, 3, radius + 2), tails, dot)


def _curve(start: complex, end: complex, bend: complex, before: float, after: float) -> _Curve:
    """A curve whose middle is `bend` away from the straight line, without its ends, which nodes cover."""
    control = (start + end) / 2 + 2 * bend
    first = start + before * _unit(control - start)
    last = end + after * _unit(control - end)
    return _Curve(first, control if bend else (first + last) / 2, last)


def _bend(start: complex, end: complex, arrow: _Arrow) -> complex:
    """To the left of the direction, with room for the label, so that the arrow back goes on the other side."""
    aside = _unit(end - start) * -1j
    return aside * min(_reach(arrow.label, aside) + 8, max(0.14 * abs(end - start), 26.0))


def _junction(sources: Sequence[complex], target: complex, taken: Sequence[complex], layout: _Layout) -> complex:
    """Between the sources and the target, at the nearest point that is clear of inputs and other junctions."""
    wish = 0.6 * sum(sources) / len(sources) + 0.4 * target
    for ring in range(60):
        for turn in range(12 if ring else 1):
            point = wish + rect(9 * ring, 2 * pi * turn / 12)
            free = all(abs(point - place) > layout.radius + 34 for place in layout.places.values())
            if free and all(abs(point - other) > 26 for other in taken):
                return point
    return wish


def _labelled(layout: _Layout, routes: tuple[_Route, ...]) -> _Picture:
    """Each label in turn takes the place where it hides least of what is there already."""
    side = 2 * layout.radius + 6
    covered = [_Box(place, side, side) for place in layout.places.values()]
    covered += (_Box(route.dot, 10, 10) for route in routes if route.dot is not None)
    covered += (_Box(route.curve.end, 14, 14) for route in routes)
    labels: list[_Box] = []
    total = 0.0
    for route in routes:
        own = route.curve.points
        others = [point for each in routes if each is not route for point in each.points]

        def hidden(box: _Box, own: Sequence[complex] = own) -> float:
            unseen = sum(map(box.holds, own)) / len(own)
            return sum(map(box.shared, covered)) + 1000 * max(0.0, unseen - 0.7)

        def crossed(box: _Box, others: Sequence[complex] = others) -> float:
            return 20.0 * sum(map(box.holds, others))

        best = min(route.label_places(), key=lambda box: hidden(box) + crossed(box))
        total += hidden(best)
        covered.append(replace(best, width=best.width + 8, height=best.height + 8))
        labels.append(best)
    return _Picture(layout, routes, tuple(labels), total)


def _route_svg(route: _Route) -> str:
    curve = route.curve
    towards = _unit(curve.end - curve.control)
    neck = curve.end - 8 * towards
    lines = [_path(tail) for tail in route.tails] + [_path(_Curve(curve.start, curve.control, neck))]
    head = " ".join(map(_pair, (curve.end, neck + 4j * towards, neck - 4j * towards)))
    kind = "constant" if not route.arrow.sources else "generalised" if route.tails else "plain"
    dot = "" if route.dot is None else f'<circle class="dot {_DOTS[kind]}" {_at(route.dot, "c")} r="4"/>'
    return (
        f'<g class="edge {kind}"><title>{escape(route.arrow.text)}</title>'
        f'{"".join(lines)}<polygon class="head" points="{head}"/>{dot}</g>'
    )


_DOTS = {"generalised": "junction", "constant": "source"}


def _node_svg(node: GraphNode, layout: _Layout) -> str:
    place, radius = layout.places[node["input"]], layout.radius
    if node["static"]:
        corner = place - radius * (0.9 + 0.9j)
        side = f"{1.8 * radius:.1f}"
        shape = f'<rect class="shape" {_at(corner)} width="{side}" height="{side}"/>'
    else:
        shape = f'<circle class="shape" {_at(place, "c")} r="{radius:.1f}"/>'
    name, *relation = _node_texts(node)
    words = [_text("name", place + (-2j if relation else 4.5j), name)]
    words += (_text("relation", place + 12j, text) for text in relation)
    kind = " static" if node["static"] else "" if node["purgeable"] else " grows"
    if kind == " grows":
        mark = place + radius * rect(1, -pi / 4)
        words += [f'<circle class="mark" {_at(mark, "c")} r="8"/>', _text("mark-text", mark + 4.5j, "∞")]
    return f'<g class="node{kind}"><title>{escape(_node_title(node))}</title>{shape}{"".join(words)}</g>'


def _node_title(node: GraphNode) -> str:
    fate = "static" if node["static"] else "its rows leave" if node["purgeable"] else "its rows never leave"
    return f"{node['input']} ({node['relation']}): {fate}"


def _node_texts(node: GraphNode) -> list[str]:
    """The input and, if it says more, the relation; of an input that is an operator, the first word is enough."""
    several = dict.fromkeys((node["input"], node["relation"].partition(" ")[0]))
    return [text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…" for text in several]


def _label_svg(arrow: _Arrow, box: _Box) -> str:
    corner, _ = box.corners
    paper = f'<rect class="paper" {_at(corner)} width="{box.width:.1f}" height="{box.height:.1f}" rx="3"/>'
    top = complex(box.middle.real, corner.imag + 12.5)
    words = (_text(kind, top + 1j * _LINE * i, line) for i, (kind, line) in enumerate(arrow.lines))
    return f'<g class="label">{paper}{"".join(words)}</g>'


def _description(nodes: Sequence[GraphNode], arrows: Sequence[_Arrow]) -> str:
    shown = map(_node_title, nodes), (arrow.text for arrow in arrows[:_MOST])
    more = [f"{len(arrows) - _MOST} more edges"] if len(arrows) > _MOST else []
    return ". ".join(chain(*shown, more)) + "."


def _text(kind: str, at: complex, text: str) -> str:
    return f'<text class="{kind}" {_at(at)}>{escape(text)}</text>'


def _path(curve: _Curve) -> str:
    return f'<path class="line" d="M{_pair(curve.start)} Q{_pair(curve.control)} {_pair(curve.end)}"/>'


def _at(point: complex, prefix: str = "") -> str:
    return f'{prefix}x="{point.real:.1f}" {prefix}y="{point.imag:.1f}"'


def _pair(point: complex) -> str:
    return f"{point.real:.1f},{point.imag:.1f}"


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _reach(box: _Box, side: complex) -> float:
    """How far a box extends from its middle in a direction."""
    return abs(side.real) * box.width / 2 + abs(side.imag) * box.height / 2


def _unit(vector: complex) -> complex:
    return vector / abs(vector) if vector else 1 + 0j
