"""A diagnostic is a value: a stable code, the smallest spans, the reason and the help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Source:
    """A text that spans point into, with the name to show for it."""

    name: str
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from one."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def line(self, number: int) -> str:
        return self.text.split("\n")[number - 1]


@dataclass(frozen=True)
class Span:
    """The characters `start` (included) to `end` (excluded) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def to(self, other: Span) -> Span:
        """The smallest span that contains both."""
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True)
class Label:
    """A note on a place in the source; the first label of a diagnostic is its place."""

    span: Span
    text: str = ""


@dataclass(frozen=True)
class Diagnostic:
    code: str
    message: str
    labels: tuple[Label, ...] = ()
    because: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    severity: Severity = "error"


class CaesuraError(Exception):
    """Input that Caesura cannot accept; carries what to tell the user."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(f"{d.severity}[{d.code}]: {d.message}" for d in self.diagnostics)
