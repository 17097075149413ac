"""Time buckets: `window(time, size [, slide [, start]])` and `session_window(time, gap)` in the select list and in
GROUP BY.

A bucket is known by its start, a time that rises with the row's, so that a rising bound of the one is one of the
other. `window` is a struct of it and of the end, as in Spark, which also puts a row into each of its buckets.
Sessions are no property of a row, and known only by the group: `sessions.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from caesura.catalog import Interval
from caesura.diagnostics.code import Code
from caesura.sql.expressions import scalar, typed
from caesura.sql.intervals import fixed_length
from caesura.sql.names import Reach
from caesura.sql.refusal import refusal
from caesura.sql.rewrite import rewrite
from caesura.sql.sessions import SESSION_WINDOW, Sessions, read_sessions
from caesura.sql.spans import extent, span

WINDOW = "window"
_CLAUSES = ("group", "having", "qualify")
_FUNCTIONS = (WINDOW, SESSION_WINDOW)


@dataclass(frozen=True)
class Buckets:
    """What the names of the time bucket of a query mean, and the sessions if it is one."""

    names: Mapping[str, exp.Expr] = field(default_factory=dict)
    sessions: Sessions | None = None


def without_calls(select: exp.Select, reach: Reach) -> tuple[exp.Select, Buckets]:
    """The same query with a name that no column has in the place of the bucket, and what that name means."""
    clauses = [*select.expressions, *(select.args[name] for name in _CLAUSES if select.args.get(name))]
    calls = [call for clause in clauses for call in _calls(clause)]
    if not calls:
        return select, Buckets()
    first = calls[0]
    function = first.name.lower()
    called = f"{function}()"
    for other in calls[1:]:
        if other != first:
            raise refusal(
                Code.CLAUSE,
                "a query has one kind of time bucket",
                span(other, reach.source),
                help="bucket by the other one in a query around this one",
            )

    def named(node: exp.Expr) -> exp.Expr | None:
        if node == first:
            name = exp.column(called, quoted=True)
        elif isinstance(node, exp.Dot) and node.this == first:
            name = exp.column(node.name, table=called, quoted=True)
        else:
            return None
        name.meta["span"] = extent(node)
        return name

    plain = select.copy()
    plain.set("expressions", [rewrite(each, named) for each in select.expressions])
    for name in _CLAUSES:
        if select.args.get(name):
            plain.set(name, rewrite(select.args[name], named))
    sessions = read_sessions(first, reach) if function == SESSION_WINDOW else None
    bucket = _bucket(first, reach) if sessions is None else sessions.window
    return plain, Buckets({called: bucket, function: bucket}, sessions)


def key_of(tree: exp.Expr) -> exp.Expr:
    """What is grouped by: of a bucket, its start."""
    first = tree.expressions[0] if isinstance(tree, exp.Struct) and tree.expressions else None
    start = first.expression if isinstance(first, exp.PropertyEQ) else None
    return start if isinstance(start, exp.Dot) and is_window(start.this) else tree


def is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == WINDOW


def _calls(tree: exp.Expr) -> Iterator[exp.Expr]:
    return (node for node in tree.walk() if isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS)


def _bucket(call: exp.Expr, reach: Reach) -> exp.Expr:
    time, *lengths = call.expressions or [exp.Null()]
    at = scalar(time, reach, "window")
    if not 1 <= len(lengths) <= 3 or typed(at, reach.source).type.kind != "TIMESTAMP":
        raise refusal(
            Code.WRONG_TYPE,
            "a time bucket is window(time, size [, slide [, start]])",
            span(call, reach.source),
            because="the time is a TIMESTAMP, the others are texts such as '10 seconds'",
        )
    size, slide, *start = (_length(each, reach) for each in (lengths + lengths)[: max(2, len(lengths))])
    if slide.microseconds > size.microseconds:
        raise refusal(
            Code.WRONG_TYPE,
            "a time bucket is at least as long as its slide",
            span(call, reach.source),
            because="rows between two buckets would be in none",
        )
    texts = (exp.Literal.string(each.sql.removeprefix("INTERVAL ")) for each in (size, slide, *start))
    spelled = exp.Anonymous(this=WINDOW, expressions=[at, *texts])
    first = exp.Dot(this=spelled, expression=exp.to_identifier("start"))
    length = exp.Interval(this=exp.Literal.string(str(size.microseconds)), unit=exp.var("MICROSECOND"))
    ends = {"start": first, "end": exp.Add(this=first.copy(), expression=length)}
    struct = exp.Struct(
        expressions=[exp.PropertyEQ(this=exp.to_identifier(name), expression=end) for name, end in ends.items()]
    )
    struct.meta["span"] = extent(call)
    return struct


def _length(node: exp.Expr, reach: Reach) -> Interval:
    length = fixed_length(node.name) if isinstance(node, exp.Literal) and node.is_string else None
    if length is None:
        raise refusal(
            Code.BAD_INTERVAL,
            "the length of a time bucket is a text such as '10 seconds'",
            span(node, reach.source),
            because="one positive number of one unit of fixed length",
        )
    return length
