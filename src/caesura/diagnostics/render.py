"""A diagnostic as text for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias
from unicodedata import east_asian_width

from caesura.diagnostics.diagnostic import Diagnostic, Label, Severity, Source

_TAB = 4
_COLORS: dict[Severity, str] = {"error": "31", "warning": "33"}
_GUTTER = "34"

Paint: TypeAlias = Callable[[str, str], str]  # text and style to text


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The place, the lines it is about with a note under each, the reasons and the help."""
    paint = _paint if color else _plain
    severity = _COLORS[diagnostic.severity]
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", f"1;{severity}")
    lines = [f"{head}: {paint(diagnostic.message, '1')}"]
    margin = max((len(str(label.span.line)) for label in diagnostic.labels), default=1)
    if diagnostic.labels:
        lines += _places(diagnostic, margin, paint)
    notes = [("because", note) for note in diagnostic.because] + [("help", note) for note in diagnostic.help]
    if notes and diagnostic.labels:
        lines.append(paint(f"{'':{margin}}  |", _GUTTER))
    for kind, note in notes:
        first, *more = note.split("\n")
        lines.append(f"{'':{margin}}  {paint('=', _GUTTER)} {paint(kind, '1')}: {first}")
        lines += [f"{'':{margin}}    {'':{len(kind)}}  {line}" for line in more]
    return "\n".join(lines)


def _places(diagnostic: Diagnostic, margin: int, paint: Paint) -> Iterator[str]:
    """One snippet per source, that of the first label first."""
    main = diagnostic.labels[0]
    sources = dict.fromkeys(label.span.source for label in diagnostic.labels)
    for source in sources:
        labels = [label for label in diagnostic.labels if label.span.source == source]
        arrow = "-->" if source is main.span.source else ":::"
        yield f"{'':{margin}} {paint(arrow, _GUTTER)} {labels[0].span}"
        yield paint(f"{'':{margin}}  |", _GUTTER)
        yield from _snippet(source, labels, main, _COLORS[diagnostic.severity], margin, paint)


def _snippet(
    source: Source, labels: list[Label], main: Label, severity: str, margin: int, paint: Paint
) -> Iterator[str]:
    before: int | None = None
    by_place = sorted(labels, key=lambda label: (label.span.line, label is not main, label.span.start))
    for number, here in groupby(by_place, key=lambda label: label.span.line):
        if before is not None and number > before + 1:
            yield paint("...", _GUTTER)
        before = number
        text = source.line(number).rstrip("\r")
        yield f"{paint(f' {number:>{margin}} |', _GUTTER)} {_shown(text)}".rstrip()
        for label in here:
            mark, style = ("^", severity) if label is main else ("-", _GUTTER)
            underline = paint(f"{_marks(label, text, mark)} {label.text}".rstrip(), f"1;{style}")
            indent = " " * _width(text[: label.span.column - 1])
            yield f"{paint(' ' * margin + '  |', _GUTTER)} {indent}{underline}"


def _marks(label: Label, text: str, mark: str) -> str:
    """Under the part of the span on its first line; an empty span still has a place."""
    begin = label.span.column - 1
    end = min(begin + label.span.end - label.span.start, len(text))
    return mark * max(_width(text[:end]) - _width(text[:begin]), 1)


def _shown(text: str) -> str:
    return text.replace("\t", " " * _TAB)


def _width(text: str) -> int:
    return sum(_TAB if c == "\t" else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _paint(text: str, style: str) -> str:
    return f"\033[{style}m{text}\033[0m"


def _plain(text: str, style: str) -> str:
    return text
