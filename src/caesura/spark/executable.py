"""What the language knows and this version does not run yet is refused before anything starts."""

from __future__ import annotations

from collections.abc import Iterator

from caesura.catalog import ClosedBy, ClusteredBy, CompleteBy, OrderedBy, PunctuatedBy, Stream, Unique
from caesura.diagnostics import CaesuraError, Diagnostic, Label, Span
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline, Query, Scan, walk


def require_executable(pipeline: Pipeline) -> None:
    found = tuple(dict.fromkeys(d for query in pipeline.queries for d in _not_executed(query)))
    if found:
        raise CaesuraError(*found)


def _not_executed(query: Query) -> Iterator[Diagnostic]:
    for node in walk(query.plan):
        if not isinstance(node, Scan) or not isinstance(node.relation, Stream):
            continue
        if node.window is not None:
            yield _refusal("a sliding window", node.span)
        for promise in node.relation.promises:
            if promise.lifespan is not None:
                yield _refusal("LIFESPAN", promise.span)
            match promise:
                case PunctuatedBy() | Unique() | OrderedBy():
                    pass
                case ClusteredBy():
                    yield _refusal("CLUSTERED BY", promise.span)
                case ClosedBy():
                    yield _refusal("CLOSED BY", promise.span)
                case CompleteBy():
                    yield _refusal("COMPLETE BY", promise.span)


def _refusal(what: str, span: Span | None) -> Diagnostic:
    labels = () if span is None else (Label(span, "`caesura check` uses it, `caesura run` cannot yet"),)
    return Diagnostic(
        Code.NOT_EXECUTED,
        f"{what} is not executed by this version",
        labels,
        because=("running without it would keep state that it promises to release",),
        help=("remove it, or have the source send the punctuations in band: PUNCTUATED BY",),
    )
