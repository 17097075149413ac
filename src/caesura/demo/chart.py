"""A chart of two series in block characters, told apart by their texture, so that colour is not needed."""

from __future__ import annotations

from collections.abc import Sequence

SOLID, SHADE = "█", "░"
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def chart(solid: Sequence[int], shade: Sequence[int], *, width: int, height: int) -> list[str]:
    """Bars of `solid` in front of bars of `shade`, a pair for each number on the x axis, counted from 1.

    Both begin at zero and share the scale. A bar of `solid` is exact to an eighth of a line, and one that is not
    zero is never invisible.

    >>> print("\\n".join(chart([1, 1, 1], [2, 4, 8], width=20, height=4)))
    8 ┤          ░░░░
      │          ░░░░
      │     ░░░░ ░░░░
      │▄▄▄▄ ▄▄▄▄ ▄▄▄▄
    0 ┼──────────────
       1    2    3
    """
    top = max(*solid, *shade, 1)
    label = len(f"{top:,}")
    bar, gap = _bar_and_gap(len(solid), width - label - 2)
    lines = []
    for level in reversed(range(height)):
        cells = [_cell(a / top * height, b / top * height, level) for a, b in zip(solid, shade, strict=True)]
        name = f"{_value(level, height, top):>{label}} ┤" if _named(level, height) else f"{'':{label}} │"
        lines.append(name + (" " * gap).join(cell * bar for cell in cells).rstrip())
    lines.append(f"{0:>{label}} ┼" + "─" * (len(solid) * (bar + gap) - gap))
    apart = -(-(len(str(len(solid))) + 1) // (bar + gap))  # bars from one number to the next that has room
    numbers = "".join(f"{number:<{(bar + gap) * apart}}" for number in range(1, len(solid) + 1, apart))
    lines.append(f"{'':{label + 2}}{numbers}".rstrip())
    return lines


def _bar_and_gap(bars: int, width: int) -> tuple[int, int]:
    """Three quarters bar and a quarter gap; a chart that has no room for gaps has none."""
    pitch = max(width // bars, 1)
    gap = min(max(pitch // 4, 1), pitch - 1)
    return pitch - gap, gap


def _named(level: int, height: int) -> bool:
    """The top, and the middle where there is room."""
    return level == height - 1 or (height >= 6 and level == height // 2 - 1)


def _value(level: int, height: int, top: int) -> str:
    return f"{top * (level + 1) // height:,}"


def _cell(solid: float, shade: float, level: int) -> str:
    """What a bar shows in the line between `level` and `level + 1`."""
    eighths = min(max(round((solid - level) * 8), int(solid > 0 and level == 0)), 8)
    if eighths > 0:
        return _EIGHTHS[eighths]
    return SHADE if shade - level >= 0.5 or (shade > 0 and level == 0) else " "
