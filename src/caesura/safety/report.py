"""Verdicts for `caesura check`: the JSON object that SQL.md fixes, and lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypedDict

from caesura.diagnostics import Span
from caesura.safety.states import By, StateVerdict
from caesura.safety.verdict import Verdict


class Position(TypedDict):
    """Both are counted from one."""

    line: int
    column: int


class Place(TypedDict):
    """From the first character to the one after the last."""

    start: Position
    end: Position


class State(TypedDict):
    """`by` is null iff `bounded` is false."""

    operator: str
    input: str
    bounded: bool
    by: By | None
    because: str


class BlockedOperator(TypedDict):
    operator: str
    because: str


class Add(TypedDict):
    stream: str
    add: str


class QueryReport(TypedDict):
    """`span` is null for a query that does not come from a text."""

    name: str
    span: Place | None
    verdict: Literal["safe", "unsafe"]
    states: list[State]
    blocked: list[BlockedOperator]
    repairs: list[list[Add]]


class Report(TypedDict):
    queries: list[QueryReport]


def report(verdicts: Iterable[Verdict]) -> Report:
    return {"queries": [query_report(verdict) for verdict in verdicts]}


def lines(verdict: Verdict) -> Iterator[str]:
    """The verdict, then one line for each state, blocked operator, repair and note."""
    yield f"{verdict.query.name}: {_word(verdict)}"
    for state in verdict.states:
        yield f"  {_subject(state)}: {state.by or 'unbounded'}: {state.because}"
    for blocked in verdict.blocked:
        yield f"  {blocked.operator}: blocked: {blocked.because}"
    for repair in verdict.repairs:
        yield f"  repair: {', '.join(f'add {each.add} to `{each.stream}`' for each in repair)}"
    for note in verdict.notes:
        yield f"  note: {note}"


def _subject(state: StateVerdict) -> str:
    return f"{state.operator} `{state.input}`" if state.input else state.operator


def _word(verdict: Verdict) -> Literal["safe", "unsafe"]:
    return "safe" if verdict.safe else "unsafe"


def query_report(verdict: Verdict) -> QueryReport:
    return {
        "name": verdict.query.name,
        "span": _place(verdict.query.span),
        "verdict": _word(verdict),
        "states": [state_report(state) for state in verdict.states],
        "blocked": [{"operator": each.operator, "because": each.because} for each in verdict.blocked],
        "repairs": [[{"stream": each.stream, "add": each.add} for each in repair] for repair in verdict.repairs],
    }


def state_report(state: StateVerdict) -> State:
    return {
        "operator": state.operator,
        "input": state.input,
        "bounded": state.bounded,
        "by": state.by,
        "because": state.because,
    }


def _place(span: Span | None) -> Place | None:
    if span is None:
        return None
    (line, column), (end_line, end_column) = map(span.source.position, (span.start, span.end))
    return {
        "start": {"line": line, "column": column},
        "end": {"line": end_line, "column": end_column},
    }
