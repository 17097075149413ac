"""What the language knows and this version does not run yet is refused before anything starts."""

from __future__ import annotations

from collections.abc import Iterator

from caesura.diagnostics import CaesuraError, Diagnostic, Label, Span
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline, Plan, Query, Scan, walk
from caesura.safety.reach import Reach
from caesura.safety.states import judge


def require_executable(pipeline: Pipeline) -> None:
    found = tuple(dict.fromkeys(d for query in pipeline.queries for d in _not_executed(query)))
    if found:
        raise CaesuraError(*found)


def _not_executed(query: Query) -> Iterator[Diagnostic]:
    for node in walk(query.plan):
        if isinstance(node, Scan) and node.window is not None:
            yield _refusal("a sliding window", node.span)
    yield from _proofs(query.plan)


def _proofs(plan: Plan) -> Iterator[Diagnostic]:
    """Proofs that nothing follows yet when a slice runs: the state would stay although it may go."""
    for state in judge(plan).states:
        match state.proof:
            case Reach(complete=True, hops=hops) if any(pin.bounded for hop in hops for pin in hop.pins):
                yield _refusal("a join that is purged by a bound between times", state.span)


def _refusal(what: str, span: Span | None) -> Diagnostic:
    labels = () if span is None else (Label(span, "`caesura check` knows it, `caesura run` does not yet"),)
    return Diagnostic(
        Code.NOT_EXECUTED,
        f"{what} is not executed by this version",
        labels,
        because=("running without it would give other results, or keep state that it promises to release",),
    )
