"""Sessions: `session_window(time, gap)` in GROUP BY, and its start and end above.

The ends of a session are columns of the group, not expressions over its rows: what rows a session has is known
only when it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from caesura.catalog import Interval
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr, columns_of
from caesura.plan import SESSION_END, SESSION_START
from caesura.sql.expressions import scalar, typed
from caesura.sql.intervals import fixed_length
from caesura.sql.names import Reach, bound_column
from caesura.sql.refusal import refusal
from caesura.sql.spans import extent, span

SESSION_WINDOW = "session_window"
SESSION_TIME = "session_time"
"""The times of rows, as the projection below the sessions calls them."""


@dataclass(frozen=True)
class Sessions:
    """What a call asks for. `window`: the struct of both ends of a session, over the columns of the group."""

    call: exp.Expr
    time: Expr
    gap: Expr
    window: exp.Struct


def read_sessions(call: exp.Expr, reach: Reach) -> Sessions:
    time, *gaps = call.expressions or [exp.Null()]
    at = typed(scalar(time, reach, SESSION_WINDOW), reach.source)
    if len(gaps) != 1 or at.type.kind != "TIMESTAMP":
        raise refusal(
            Code.WRONG_TYPE,
            "sessions are session_window(time, gap)",
            span(call, reach.source),
            because="the time is a TIMESTAMP, the gap a text such as '10 seconds'",
        )
    ends = {"start": SESSION_START, "end": SESSION_END}
    window = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=bound_column(column, at.type, call))
            for name, column in ends.items()
        ]
    )
    window.meta["span"] = extent(call)
    return Sessions(call, at, typed(_gap(gaps[0], reach), reach.source), window)


def refuse_ends(tree: exp.Expr, source: Source) -> None:
    """What is computed of each row cannot know the session that the row will be in."""
    if not columns_of(tree).isdisjoint((SESSION_START, SESSION_END)):
        raise refusal(
            Code.CLAUSE,
            "the ends of a session are not known of its rows",
            span(tree, source),
            because="a row that comes later may make the session longer",
            help="group or aggregate by them in a query around this one",
        )


def refuse_ungrouped(sessions: Sessions, source: Source) -> None:
    raise refusal(
        Code.CLAUSE,
        "session_window stands for a group, and nothing is grouped by it",
        span(sessions.call, source),
        because="which rows are one session depends on the other keys of GROUP BY",
        help="GROUP BY session_window(time, gap), …",
    )


def _gap(node: exp.Expr, reach: Reach) -> exp.Expr:
    length = _length(node)
    if length is None:
        raise refusal(
            Code.BAD_INTERVAL,
            "the gap of a session is a text such as '10 seconds'",
            span(node, reach.source),
            because="one positive number of one unit of fixed length; the gap cannot depend on the row here",
        )
    _, number, unit = length.sql.split()
    return exp.Interval(this=exp.Literal.string(number), unit=exp.var(unit))


def _length(node: exp.Expr) -> Interval | None:
    match node:
        case exp.Literal(is_string=True):
            return fixed_length(node.name)
        case exp.Interval(this=exp.Literal() as number, args={"unit": exp.Var() as unit}):
            return fixed_length(f"{number.name} {unit.name}")
        case _:
            return None
