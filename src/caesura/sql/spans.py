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
    """The place of the node or, if sqlglot made it up, of the nearest one around it."""
    while node is not None:
        found = extent(node)
        if found is not None:
            return Span(source, *found)
        node = node.parent
    return None
