"""A stream with several locations is the union of its parts: what all of them have closed is closed."""

from __future__ import annotations

from caesura.catalog import Stream
from caesura.diagnostics import Span
from caesura.expression import column
from caesura.plan import Merge, Output, Plan, Project, Scan


def merged(parts: tuple[Stream, ...], at: Span | None) -> Plan:
    return Merge(tuple(_plain(part, at) for part in parts), at)


def _plain(part: Stream, at: Span | None) -> Plan:
    """A part under the names that the stream's columns were declared with."""
    scan = Scan(part, part.name, span=at)
    pairs = zip(part.columns, scan.columns, strict=True)
    return Project(scan, tuple(Output(one.name, column(two.name, two.type)) for one, two in pairs), at)
