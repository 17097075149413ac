"""A plot of some lines as an SVG that needs nothing around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, takewhile
from math import floor, log10

from caesura.explain.drawing import DARK, LIGHT

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 44, 44  # margins; the lines' names stand to the right
MARKS = 5  # about so many on an axis
LINE = 14  # of text

_STYLE = f"""
.plot {{ {LIGHT}; font: 11px ui-sans-serif, system-ui, sans-serif }}
@media screen and (prefers-color-scheme: dark) {{ .plot {{ {DARK} }} }}
.plot .paper {{ fill: var(--paper) }}
.plot text {{ fill: var(--soft) }}
.plot .title {{ fill: var(--ink); font-size: 13px; font-weight: 600 }}
.plot .rule {{ stroke: var(--rule) }}
.plot .line {{ fill: none; stroke-width: 2 }}
.plot .colour0 {{ stroke: var(--bad) }}
.plot .colour1 {{ stroke: var(--good) }}
.plot .colour2 {{ stroke: var(--ink) }}
.plot .bar {{ stroke: none }}
.plot .bar.colour0 {{ fill: var(--bad) }}
.plot .bar.colour1 {{ fill: var(--good) }}
.plot .bar.colour2 {{ fill: var(--ink) }}
"""
_COLOURS = 3


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


def plot(title: str, x: str, y: str, lines: Sequence[Line]) -> str:
    """Both axes begin at zero; `x` and `y` are what they show."""
    assert len(lines) <= _COLOURS
    right = max(a for line in lines for a, _ in line.points)
    top = max(b for line in lines for _, b in line.points) or 1.0
    area = _Area(right, max(top, marks(top)[-1]))
    return svg(title, HEIGHT, (*_axes(area, title, x, y), *_lines(area, lines)))


def svg(title: str, height: float, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" width="{WIDTH}" height="{height:g}"'
        f' viewBox="0 0 {WIDTH} {height:g}"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect class="paper" width="{WIDTH}" height="{height:g}"/>' + "\n".join(parts) + "</svg>\n"
    )


def marks(top: float) -> list[float]:
    """Round numbers from zero, the last of them at most a step beyond the top."""
    rough = top / MARKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [*takewhile(lambda mark: mark < top + step * 0.999, (i * step for i in count()))]


@dataclass(frozen=True)
class _Area:
    """Where a point lies, by the greatest values of both axes."""

    right: float
    top: float

    def x(self, value: float) -> float:
        return LEFT + value / self.right * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM)


def _axes(area: _Area, title: str, x: str, y: str) -> Iterator[str]:
    yield text(LEFT, 16, title, "title")
    yield text(8, TOP - 12, y)
    yield text(area.x(area.right), HEIGHT - 8, x, anchor="end")
    for mark in marks(area.top):
        if mark <= area.top:
            at = area.y(mark)
            yield f'<path class="rule" d="M{LEFT} {at:.1f}H{area.x(area.right):.1f}"/>'
            yield text(LEFT - 8, at + 4, f"{mark:,g}", anchor="end")
    for mark in marks(area.right):
        if mark <= area.right:
            yield text(area.x(mark), HEIGHT - BOTTOM + 16, f"{mark:,g}", anchor="middle")


def _lines(area: _Area, lines: Sequence[Line]) -> Iterator[str]:
    """Each with its name at its end, moved up where names would overlap."""
    free = float(HEIGHT)
    by_end = sorted(enumerate(lines), key=lambda each: each[1].points[-1][1])
    for colour, line in by_end:
        path = " L".join(f"{area.x(a):.1f} {area.y(b):.1f}" for a, b in line.points)
        dashes = ' stroke-dasharray="5 4"' if line.dashed else ""
        yield f'<path class="line colour{colour}"{dashes} d="M{path}"/>'
        at = free = min(free - LINE, area.y(line.points[-1][1]) + 4)
        yield text(area.x(area.right) + 8, at, line.name)


def text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> str:
    classed = f' class="{kind}"' if kind else ""
    return f'<text{classed} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
