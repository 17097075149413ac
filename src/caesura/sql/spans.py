"""From syntax nodes to the characters they were read from."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Source, Span


def extent(node: exp.Expr) -> tuple[int, int] | None:
    """First character and the one after the last; None for a node that no text stands for."""
    own: tuple[int, int] | None = node.meta_get("span")
    if own is not None:
        return own
    start, last = node.meta_get("start"), node.meta_get("end")
    if start is not None and last is not None:
        return start, last + 1  # sqlglot's ends are inclusive
    below = [found for child in node.iter_expressions() if (found := extent(child)) is not None]
    if not below:
        return None
    return min(start for start, _ in below), max(end for _, end in below)


def span(node: exp.Expr | None, source: Source) -> Span | None:
    found = extent(node) if node is not None else None
    return Span(source, *found) if found is not None else None
