"""Functions over frames: the frame that a call asks for, and one node for the calls with the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, TypeAlias

from sqlglot import exp

from caesura.catalog import UNITS, Interval
from caesura.diagnostics import CaesuraError, Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import Frame, Framed, Plan, SortKey
from caesura.sql.analytic import Analytic
from caesura.sql.datatypes import to_data
from caesura.sql.functions import ordered
from caesura.sql.inference import infer
from caesura.sql.intervals import interval
from caesura.sql.over import Columns, Over
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import Type

Unit: TypeAlias = Literal["rows", "range"]
Far: TypeAlias = int | Interval | None
_MOST_ROWS, _MOST = 2**31 - 1, 2**62
_UNBOUNDED, _CURRENT = "UNBOUNDED", "CURRENT ROW"


def framing(overs: Iterable[Over], columns: Columns, source: Source) -> Iterator[Callable[[Plan], Plan]]:
    """What makes the nodes, each over the one before: calls with the same partitions and order share one."""
    together: dict[tuple[tuple[str, ...], tuple[SortKey, ...]], list[Framed]] = {}
    for over in overs:
        if not over.order:
            raise _refused(
                over.at,
                source,
                f"{over.function.name} with OVER lacks an order",
                "without one its frame is the whole partition, which is known only when the partition ends",
                "ORDER BY a column that the stream is ordered by; or GROUP BY, and a join with the groups",
            )
        key = (columns.partition(over), columns.order(over))
        together.setdefault(key, []).append(_framed(over, columns, source))
    for (partition, order), functions in together.items():
        yield partial(_node, partition=partition, order=order, functions=tuple(functions))


def _node(
    plan: Plan, *, partition: tuple[str, ...], order: tuple[SortKey, ...], functions: tuple[Framed, ...]
) -> Plan:
    at = functions[0].span
    for each in plan.columns:
        if not ordered(each.type):
            raise refusal(
                Code.WRONG_TYPE,
                f"OVER cannot tell rows with `{each.name}` apart, which is {each.type}",
                at,
                because="where ORDER BY leaves rows equal, the other columns that the query reads decide",
                help="leave the column out",
            )
    return Frame(plan, partition, order, functions, at)


def _framed(over: Over, columns: Columns, source: Source) -> Framed:
    call = over.function
    assert isinstance(call, Analytic)
    at, name, ignore_nulls = span(over.at, source), call.name, bool(call.args.get("ignore_nulls"))
    if name == "LAG":
        unit, preceding, arguments = _lag(over, call, source)
    else:
        unit, preceding = _frame(over, source)
        arguments = call.expressions
    if name == "LAST_VALUE" and not ignore_nulls:
        preceding = 0  # it is never further back
    names = tuple(columns.column(argument, "argument") for argument in arguments)
    return Framed(over.result, name, names, unit, preceding, ignore_nulls, at)


def _lag(over: Over, call: Analytic, source: Source) -> tuple[Unit, Far, list[exp.Expr]]:
    """The row so many before, and what stands where there is none, as a value of the same type."""
    if over.at.args.get("spec"):
        at = over.at.args["spec"]
        raise _refused(at, source, "LAG takes no frame", "it is about one row, so many before this one")
    value, *rest = call.expressions
    number = rest[0] if rest else exp.Literal.number(1)
    count = _whole(number)
    if count is None or count > _MOST_ROWS:
        raise _refused(number, source, "the second argument of LAG is a number of rows, such as 1", None)
    if len(rest) < 2 or isinstance(rest[1], exp.Null):
        return "rows", count, [value]
    type, given = over.result.type, infer(rest[1], source)
    if not given.comparable(type):
        message = f"LAG gives {type}, and what stands for a row that is missing is {given}"
        raise refusal(Code.WRONG_TYPE, message, span(rest[1], source))
    default = rest[1] if given == type else exp.Cast(this=rest[1].copy(), to=to_data(type))
    return "rows", count, [value, default]


def _frame(over: Over, source: Source) -> tuple[Unit, Far]:
    """Without a frame, SQL takes all rows up to this one and those equal to it."""
    spec = over.at.args.get("spec")
    if spec is None:
        return "range", None
    kind, start, end = (spec.args.get(name) for name in ("kind", "start", "end"))
    if kind not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        raise _refused(spec, source, "a frame is of ROWS or a RANGE, without EXCLUDE", None)
    if spec.args.get("end_side") == "FOLLOWING" or spec.args.get("start_side") == "FOLLOWING":
        raise _refused(
            spec,
            source,
            "a frame ends at the current row",
            "rows that follow may take long to come, and a row comes out once",
            "… PRECEDING AND CURRENT ROW",
        )
    if end not in (None, _CURRENT):
        raise _refused(
            spec,
            source,
            "a frame ends at the current row",
            "this one ends before it",
            "compute it up to the current row, and take the row's own value away",
        )
    unit: Unit = "rows" if kind == "ROWS" else "range"
    if start == _UNBOUNDED:
        return unit, None
    if start == _CURRENT:
        return unit, 0
    return unit, _rows(start, source) if unit == "rows" else _distance(start, over, source)


def _rows(start: exp.Expr, source: Source) -> int:
    count = _whole(start)
    if count is None or count > _MOST_ROWS:
        raise _refused(start, source, "ROWS takes a number of rows, such as 3", None)
    return count


def _distance(start: exp.Expr, over: Over, source: Source) -> int | Interval:
    """How much less the order key may be; one that falls, or several, have no such distance."""
    (key, *more), at = over.order, over.at.args["spec"]
    if more or key.args.get("desc"):
        raise _refused(
            at,
            source,
            "RANGE with a length takes one order key, which rises",
            "the length is counted back from its value",
            "ROWS …, or RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        )
    type = infer(key.this, source)
    if isinstance(start, exp.Interval) and type.temporal:
        length = interval(start, source)
        if type.kind == "DATE" and length.microseconds % UNITS["DAY"]:
            raise _refused(start, source, "a RANGE of dates takes whole days", None)
        return length
    number = _whole(start)
    if number is not None and number <= _MOST and type.enumerable:
        return number
    raise _no_length(start, type, source)


def _no_length(start: exp.Expr, type: Type, source: Source) -> CaesuraError:
    takes = "times take an INTERVAL, whole numbers and days a number"
    help = "RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW" if type.temporal else "ROWS …"
    return _refused(start, source, f"this is no length in which {type} is counted back", takes, help)


def _whole(node: exp.Expr) -> int | None:
    node = node.unnest()
    return int(node.name) if isinstance(node, exp.Literal) and node.is_int else None


def _refused(
    at: exp.Expr, source: Source, message: str, because: str | None, help: str | None = None
) -> CaesuraError:
    where: Span | None = span(at, source)
    return refusal(Code.WINDOW_FUNCTION, message, where, because=because, help=help)
