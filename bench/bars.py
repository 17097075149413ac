"""Bars beside each other, some to a row, as an SVG like those of `bench.plot`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.plot import LEFT, LINE, RIGHT, TOP, WIDTH, marks, svg, text

BAR, GAP = 7, 7
COLOURS = (1, 0, 2)
"""Of the first, second and third bar of a row."""


def bars(title: str, x: str, names: Sequence[str], rows: Mapping[str, Mapping[str, float]]) -> str:
    """`rows` has a value for each name, or none; `x` is what the axis shows, from zero."""
    assert len(names) <= len(COLOURS)
    most = max(value for row in rows.values() for value in row.values())
    step = len(names) * BAR + GAP
    bottom = TOP + len(rows) * step
    wide = (WIDTH - LEFT - RIGHT) / most

    def drawn() -> Iterator[str]:
        yield text(LEFT, 16, title, "title")
        for mark in marks(most):
            if mark <= most:
                at = LEFT + mark * wide
                yield f'<path class="rule" d="M{at:.1f} {TOP}V{bottom}"/>'
                yield text(at, bottom + LINE, f"{mark:,g}", anchor="middle")
        yield text(LEFT + most * wide, bottom + 2 * LINE, x, anchor="end")
        for place, (row, values) in enumerate(rows.items()):
            top = TOP + place * step + GAP / 2
            yield text(LEFT - 8, top + len(names) * BAR / 2 + 4, row, anchor="end")
            for number, name in enumerate(names):
                if name in values:
                    yield _bar(number, LEFT, top + number * BAR, values[name] * wide, BAR - 1)
        for number, name in enumerate(names):
            at = TOP + number * LINE
            yield _bar(number, WIDTH - RIGHT + 12, at, 8, 8)
            yield text(WIDTH - RIGHT + 26, at + 8, name)

    return svg(title, bottom + 2 * LINE + 8, drawn())


def _bar(number: int, x: float, y: float, width: float, height: float) -> str:
    box = f'x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}"'
    return f'<rect class="bar colour{COLOURS[number]}" {box}/>'
