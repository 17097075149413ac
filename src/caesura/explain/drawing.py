"""The punctuation graph of a join as a picture: an SVG that needs nothing around it.

Points are complex numbers, y down, and 0 is the middle of the ring that the inputs stand on.
"""

from __future__ import annotations

from cmath import rect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from math import pi, radians, sin
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
.punctuation-graph .badge {{ fill: var(--bad) }}
.punctuation-graph .badge-text {{ fill: var(--paper); font-size: 13px; font-weight: 700 }}
.punctuation-graph .name {{ font-size: 13px; font-weight: 600 }}
.punctuation-graph .relation, .punctuation-graph .predicate {{ fill: var(--soft) }}
.punctuation-graph .line {{ fill: none; stroke: var(--line); stroke-width: 1.4 }}
.punctuation-graph .head, .punctuation-graph .dot {{ fill: var(--line) }}
.punctuation-graph .paper {{ fill: var(--paper); fill-opacity: 0.94 }}
"""

_NAME, _LABEL = 7.9, 6.7
"""Pixels per character at 13 and 11 px: a monospaced font, so that the estimate holds."""
_LINE = 14.0
_LONGEST_NAME, _LONGEST_LINE = 13, 38
_MOST_NODES, _MOST_LABELS = 40, 60
"""With more than so many a picture has no room for labels; they are shown on hovering."""


@dataclass(frozen=True)
class _Box:
    middle: complex
    width: float
    height: float

    @property
    def corners(self) -> tuple[complex, complex]:
        half = complex(self.width, self.height) / 2
        return self.middle - half, self.middle + half

    def shared(self, other: _Box) -> float:
        """The area that both cover."""
        apart = self.middle - other.middle
        wide = (self.width + other.width) / 2 - abs(apart.real)
        high = (self.height + other.height) / 2 - abs(apart.imag)
        return (
            min(wide, self.width, other.width) * min(high, self.height, other.height)
            if min(wide, high) > 0
            else 0.0
        )


@dataclass(frozen=True)
class _Curve:
    """A quadratic Bézier curve; straight if `control` is in the middle."""

    start: complex
    control: complex
    end: complex

    def at(self, t: float) -> complex:
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t**2 * self.end

    def trimmed(self, at_start: float, at_end: float) -> _Curve:
        """Without the parts that nodes of these radii cover."""
        start = self.start + at_start * _unit(self.control - self.start)
        end = self.end + at_end * _unit(self.control - self.end)
        return _Curve(start, self.control, end)


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
            for kind, text in (("scheme", each["scheme"]), ("predicate", each["predicate"]))
            for line in wrap(text, _LONGEST_LINE)
        )

    def label_at(self, middle: complex) -> _Box:
        widest = max((_columns(line) for _, line in self.lines), default=0)
        return _Box(middle, widest * _LABEL + 10, len(self.lines) * _LINE + 4)


@dataclass(frozen=True)
class _Route:
    """How an arrow goes: `tails` meet in `dot`, from where `curve` leads to the target.

    `dot` is the junction of several sources or stands for a constant; one source has neither dot nor tails.
    """

    arrow: _Arrow
    curve: _Curve
    tails: tuple[_Curve, ...] = ()
    dot: complex | None = None

    def label_places(self) -> Iterator[_Box]:
        """Where the label may stand, best first."""
        size = self.arrow.label_at(0)
        if self.dot is None:
            for t in (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74):
                yield self.arrow.label_at(self.curve.at(t))
            return
        back = _unit(self.dot - self.curve.end)
        sides = (back, 1j, -1j, 1, -1) if not self.tails else (1j, -1j, 1, -1, back)
        for far in (9, 24):
            for side in sides:
                away = far + abs(side.real) * size.width / 2 + abs(side.imag) * size.height / 2
                yield self.arrow.label_at(self.dot + away * side)


@dataclass(frozen=True)
class _Layout:
    radius: float
    places: dict[str, complex]

    def outwards(self, name: str) -> complex:
        """Where nothing is: away from the ring; up, if there is hardly a ring."""
        return _unit(self.places[name]) if len(self.places) > 2 else -1j


def draw(graph: Graph) -> str:
    """Inputs are circles, static ones dashed squares; what grows without bound is red and carries ∞."""
    arrows = _arrows(graph["edges"])
    labelled = len(graph["nodes"]) <= _MOST_NODES and len(arrows) <= _MOST_LABELS
    layout = _layout(graph["nodes"], arrows if labelled else ())
    routes = list(_routes(arrows, layout))
    labels = _placed(routes, layout) if labelled else ()
    shapes = chain(
        map(_route_svg, routes),
        (_node_svg(node, layout) for node in graph["nodes"]),
        (_label_svg(route.arrow, box) for route, box in zip(routes, labels, strict=False)),
    )
    left_top, right_bottom = _extent(routes, layout, labels)
    size = right_bottom - left_top
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="punctuation-graph" role="img"'
        f' width="{size.real:.0f}" height="{size.imag:.0f}"'
        f' viewBox="{left_top.real:.0f} {left_top.imag:.0f} {size.real:.0f} {size.imag:.0f}">'
        f"<title>Punctuation graph of {escape(graph['operator'])}</title>"
        f"<desc>{escape(_description(graph['nodes'], arrows))}</desc>"
        f"<style>{_STYLE}</style>" + "\n".join(shapes) + "</svg>"
    )


def _arrows(edges: Iterable[GraphEdge]) -> list[_Arrow]:
    found: dict[tuple[tuple[str, ...], str], list[GraphEdge]] = {}
    for edge in edges:
        found.setdefault((tuple(edge["sources"]), edge["target"]), []).append(edge)
    return [_Arrow(sources, target, tuple(several)) for (sources, target), several in found.items()]


def _layout(nodes: Sequence[GraphNode], arrows: Sequence[_Arrow]) -> _Layout:
    """A ring of equal steps, wider than high because labels are, and so large that neighbours keep apart."""
    widest = max((_columns(text) for node in nodes for text in _node_texts(node)), default=0)
    radius = max(26.0, widest * _NAME / 2 + 8)
    label = max((arrow.label_at(0).width for arrow in arrows), default=0.0)
    names, count = [node["input"] for node in nodes], len(nodes)
    if count <= 2:
        half = radius + max(label, 100.0) / 2 + 30 if count == 2 else 0.0
        return _Layout(radius, dict(zip(names, (complex(-half), complex(half)), strict=False)))
    spread = 2 * sin(pi / count)
    least = (2 * radius + 24) / spread
    wide = max(least, (2 * radius + 40 + label * min(1.0, 6 / count)) / spread)
    high = max(least, 0.66 * wide)
    turns = (rect(1, 2 * pi * i / count - pi / 2) for i in range(count))
    places = (complex(wide * turn.real, high * turn.imag) for turn in turns)
    return _Layout(radius, dict(zip(names, places, strict=True)))


def _routes(arrows: Sequence[_Arrow], layout: _Layout) -> Iterator[_Route]:
    known = {(arrow.sources, arrow.target) for arrow in arrows}
    taken: list[complex] = []
    for arrow in arrows:
        target = layout.places[arrow.target]
        match arrow.sources:
            case ():
                dot = target + (layout.radius + 40) * layout.outwards(arrow.target)
                yield _Route(arrow, _straight(dot, target).trimmed(3, layout.radius + 2), (), dot)
            case (source,):
                both = ((arrow.target,), source) in known
                curve = (
                    _bent(layout.places[source], target, arrow)
                    if both
                    else _straight(layout.places[source], target)
                )
                yield _Route(arrow, curve.trimmed(layout.radius, layout.radius + 2))
            case sources:
                dot = _junction([layout.places[each] for each in sources], target, taken, layout)
                taken.append(dot)
                tails = (_straight(layout.places[each], dot).trimmed(layout.radius, 0) for each in sources)
                yield _Route(arrow, _straight(dot, target).trimmed(3, layout.radius + 2), tuple(tails), dot)


def _straight(start: complex, end: complex) -> _Curve:
    return _Curve(start, (start + end) / 2, end)


def _bent(start: complex, end: complex, arrow: _Arrow) -> _Curve:
    """To the left of its direction, so that the arrow back bends to the other side, with room for its label."""
    along = end - start
    aside = _unit(along) * -1j
    label = arrow.label_at(0)
    room = abs(aside.real) * label.width / 2 + abs(aside.imag) * label.height / 2 + 8
    bend = min(max(room, 18.0), max(0.14 * abs(along), 26.0)) if arrow.lines else 18.0
    return _Curve(start, (start + end) / 2 + 2 * bend * aside, end)


def _junction(sources: Sequence[complex], target: complex, taken: Sequence[complex], layout: _Layout) -> complex:
    """Between the sources and the target, in the nearest place that is clear of inputs and other junctions."""
    wish = 0.6 * sum(sources) / len(sources) + 0.4 * target
    for ring in range(60):
        for turn in range(12 if ring else 1):
            point = wish + rect(9 * ring, radians(30 * turn))
            free = all(abs(point - place) > layout.radius + 34 for place in layout.places.values())
            if free and all(abs(point - other) > 26 for other in taken):
                return point
    return wish


def _placed(routes: Sequence[_Route], layout: _Layout) -> list[_Box]:
    """A box for each label. Each in turn takes the place where it hides least of what is there already."""
    covered = [_Box(place, 2 * layout.radius + 6, 2 * layout.radius + 6) for place in layout.places.values()]
    covered += (_Box(route.dot, 10, 10) for route in routes if route.dot is not None)
    covered += (_Box(route.curve.end, 14, 14) for route in routes)
    labels: list[_Box] = []
    for route in routes:
        best = min(route.label_places(), key=lambda box: sum(map(box.shared, covered)))
        covered.append(best)
        labels.append(best)
    return labels


def _extent(routes: Sequence[_Route], layout: _Layout, labels: Iterable[_Box]) -> tuple[complex, complex]:
    """The left upper and the right lower corner of all that is drawn, with a margin."""
    nodes = (_Box(place, 2 * layout.radius + 16, 2 * layout.radius + 16) for place in layout.places.values())
    points = [corner for box in chain(nodes, labels) for corner in box.corners]
    points += (route.curve.at(t / 10) for route in routes for t in range(11))
    xs, ys = [each.real for each in points] or [0.0], [each.imag for each in points] or [0.0]
    return complex(min(xs) - 8, min(ys) - 8), complex(max(xs) + 8, max(ys) + 8)


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
    texts = _node_texts(node)
    first = place + (4.5j if len(texts) == 1 else -2j)
    words = [_text(kind, first + 14j * i, text) for i, (kind, text) in enumerate(zip(("name", "relation"), texts))]
    kind = " static" if node["static"] else "" if node["purgeable"] else " grows"
    if kind == " grows":
        badge = place + radius * rect(1, -pi / 4)
        words += [f'<circle class="badge" {_at(badge, "c")} r="8"/>', _text("badge-text", badge + 4.5j, "∞")]
    return f'<g class="node{kind}"><title>{escape(_node_title(node))}</title>{shape}{"".join(words)}</g>'


def _node_title(node: GraphNode) -> str:
    fate = "static" if node["static"] else "its rows leave" if node["purgeable"] else "its rows never leave"
    return f"{node['input']} ({node['relation']}): {fate}"


def _node_texts(node: GraphNode) -> list[str]:
    several = dict.fromkeys((node["input"], node["relation"]))
    return [text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…" for text in several]


def _label_svg(arrow: _Arrow, box: _Box) -> str:
    corner, _ = box.corners
    paper = f'<rect class="paper" {_at(corner)} width="{box.width:.1f}" height="{box.height:.1f}" rx="3"/>'
    top = complex(box.middle.real, corner.imag + 12.5)
    words = (_text(kind, top + 1j * _LINE * i, line) for i, (kind, line) in enumerate(arrow.lines))
    return f'<g class="label">{paper}{"".join(words)}</g>'


def _description(nodes: Sequence[GraphNode], arrows: Sequence[_Arrow]) -> str:
    shown = map(_node_title, nodes), (arrow.text for arrow in arrows[:_MOST_LABELS])
    more = [f"{len(arrows) - _MOST_LABELS} more edges"] if len(arrows) > _MOST_LABELS else []
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


def _unit(vector: complex) -> complex:
    return vector / abs(vector) if vector else 1 + 0j
