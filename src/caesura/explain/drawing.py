"""The punctuation graph of a join as a picture: an SVG that needs nothing around it."""

from __future__ import annotations

from cmath import rect
from collections.abc import Sequence
from html import escape
from itertools import chain
from math import pi

from caesura.explain.document import Graph, GraphNode
from caesura.explain.layout import (
    LINE,
    MOST,
    Arrow,
    Box,
    Curve,
    Layout,
    Route,
    arrows_of,
    node_texts,
    picture_of,
    unit,
)

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


def draw(graph: Graph) -> str:
    """Inputs are circles, static ones dashed squares; what grows without bound is red and carries ∞."""
    arrows = arrows_of(graph["edges"])
    picture = picture_of(graph["nodes"], arrows)
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


def _route_svg(route: Route) -> str:
    curve = route.curve
    towards = unit(curve.end - curve.control)
    neck = curve.end - 8 * towards
    lines = [_path(tail) for tail in route.tails] + [_path(Curve(curve.start, curve.control, neck))]
    head = " ".join(map(_pair, (curve.end, neck + 4j * towards, neck - 4j * towards)))
    kind = "constant" if not route.arrow.sources else "generalised" if route.tails else "plain"
    dot = "" if route.dot is None else f'<circle class="dot {_DOTS[kind]}" {_at(route.dot, "c")} r="4"/>'
    return (
        f'<g class="edge {kind}"><title>{escape(route.arrow.text)}</title>'
        f'{"".join(lines)}<polygon class="head" points="{head}"/>{dot}</g>'
    )


_DOTS = {"generalised": "junction", "constant": "source"}


def _node_svg(node: GraphNode, layout: Layout) -> str:
    place, radius = layout.places[node["input"]], layout.radius
    if node["static"]:
        corner = place - radius * (0.9 + 0.9j)
        side = f"{1.8 * radius:.1f}"
        shape = f'<rect class="shape" {_at(corner)} width="{side}" height="{side}"/>'
    else:
        shape = f'<circle class="shape" {_at(place, "c")} r="{radius:.1f}"/>'
    name, *relation = node_texts(node)
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


def _label_svg(arrow: Arrow, box: Box) -> str:
    corner, _ = box.corners
    paper = f'<rect class="paper" {_at(corner)} width="{box.width:.1f}" height="{box.height:.1f}" rx="3"/>'
    top = complex(box.middle.real, corner.imag + 12.5)
    words = (_text(kind, top + 1j * LINE * i, line) for i, (kind, line) in enumerate(arrow.lines))
    return f'<g class="label">{paper}{"".join(words)}</g>'


def _description(nodes: Sequence[GraphNode], arrows: Sequence[Arrow]) -> str:
    shown = map(_node_title, nodes), (arrow.text for arrow in arrows[:MOST])
    more = [f"{len(arrows) - MOST} more edges"] if len(arrows) > MOST else []
    return ". ".join(chain(*shown, more)) + "."


def _text(kind: str, at: complex, text: str) -> str:
    return f'<text class="{kind}" {_at(at)}>{escape(text)}</text>'


def _path(curve: Curve) -> str:
    return f'<path class="line" d="M{_pair(curve.start)} Q{_pair(curve.control)} {_pair(curve.end)}"/>'


def _at(point: complex, prefix: str = "") -> str:
    return f'{prefix}x="{point.real:.1f}" {prefix}y="{point.imag:.1f}"'


def _pair(point: complex) -> str:
    return f"{point.real:.1f},{point.imag:.1f}"
