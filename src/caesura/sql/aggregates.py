"""A call of an aggregate, with DISTINCT, FILTER and WITHIN GROUP: its function, arguments and percentages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.aggregates import FUNCTIONS, NAMES, Function
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql.arithmetic import DOUBLE
from caesura.sql.functions import spelling
from caesura.sql.inference import infer, truth
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import Type

_BY_ORDER = (exp.First, exp.FirstValue, exp.Last, exp.LastValue)
_WITHIN_GROUP = ("PERCENTILE_CONT", "PERCENTILE_DISC", "MODE")
"""The functions whose argument is written as WITHIN GROUP (ORDER BY argument)."""
_WITH_PERCENTAGE = ("PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC")
_NUMBERS = ("no argument", "one argument", "two arguments")


@dataclass(frozen=True)
class Call:
    """What a call asks for; equal for calls that ask for the same. `COUNT` without arguments counts rows.

    `percentages` are those of a percentile; `many` if they were given as an array, and so is the result.
    """

    function: Function
    arguments: tuple[exp.Expr, ...] = ()
    percentages: tuple[float, ...] = ()
    many: bool = False


def is_aggregate(node: exp.Expr) -> bool:
    """A call with all that belongs to it."""
    return isinstance(node, exp.AggFunc) or (
        isinstance(node, exp.Filter | exp.WithinGroup) and is_aggregate(node.this)
    )


def read_call(node: exp.Expr, source: Source) -> Call:
    match node:
        case exp.Filter():
            return _filtered(read_call(node.this, source), node.expression.this, source)
        case exp.WithinGroup(this=exp.AnonymousAggFunc() as call):
            return _within_group(call, _function(call, source), node.expression, source)
    function = _function(node, source)
    if function.name in ("PERCENTILE_CONT", "PERCENTILE_DISC"):
        raise _form(node, source, f"{function.name} lacks WITHIN GROUP (ORDER BY …)")
    arguments = node.expressions
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        return _distinct(node, function, arguments[0].expressions, source)
    if function.name == "COUNT" and len(arguments) == 1 and isinstance(arguments[0], exp.Star | exp.Literal):
        return Call(function)  # COUNT(*), or COUNT of something that is never NULL
    if function.name == "PERCENTILE":
        _check_count(node, function, len(arguments) == 2, source, "two arguments")
        return _percentile(function, arguments[0], arguments[1], source)
    return _call(node, function, arguments, source)


def result_type(call: Call, source: Source) -> Type:
    """The type of the result; refuses arguments that the function does not take."""
    types = tuple(infer(argument, source) for argument in call.arguments)
    for i, (argument, type) in enumerate(zip(call.arguments, types, strict=True)):
        takes = call.function.takes[min(i, len(call.function.takes) - 1)]
        if not takes.fits(type):
            message = f"{call.function.name} takes {takes.what}, this is {type}"
            raise refusal(Code.WRONG_TYPE, message, span(argument, source))
    return Type(f"ARRAY<{DOUBLE}>") if call.many else call.function.gives(types)


def _function(node: exp.Expr, source: Source) -> Function:
    if isinstance(node, exp.AnonymousAggFunc) and node.name in NAMES:
        return NAMES[node.name]
    name = spelling(node, source)
    if isinstance(node, _BY_ORDER):
        raise refusal(
            Code.AGGREGATE_FORM,
            f"`{name}` has no meaning over a stream",
            span(node, source),
            because="it depends on the order of rows, which no slice has",
            help="MIN_BY(value, time) or MAX_BY(value, time); ANY_VALUE if all are the same",
        )
    raise refusal(
        Code.AGGREGATE_FORM,
        f"this version does not execute the aggregate `{name}`",
        span(node, source),
        because=f"it executes {', '.join(NAMES)}",
    )


def _call(node: exp.Expr, function: Function, arguments: list[exp.Expr], source: Source) -> Call:
    wanted = len(function.takes)
    enough = len(arguments) >= wanted if function.several else len(arguments) == wanted
    _check_count(node, function, enough, source, _NUMBERS[wanted])
    return Call(function, tuple(argument.unnest() for argument in arguments))


def _distinct(node: exp.Expr, function: Function, arguments: list[exp.Expr], source: Source) -> Call:
    if function.distinct is None:
        known = ", ".join(each.name for each in FUNCTIONS.values() if each.distinct)
        message = f"this version does not execute {function.name}(DISTINCT …)"
        raise refusal(Code.AGGREGATE_FORM, message, span(node, source), because=f"DISTINCT is for {known}")
    return _call(node, FUNCTIONS[function.distinct], arguments, source)


def _filtered(call: Call, condition: exp.Expr, source: Source) -> Call:
    """FILTER makes NULL of the last argument in all other rows: every function passes over those."""
    truth(condition, source, "the condition of FILTER")
    if not call.arguments:
        return Call(NAMES["COUNT_IF"], (condition,))
    *others, last = call.arguments
    chosen = exp.Case(ifs=[exp.If(this=condition.copy(), true=last.copy())])
    return replace(call, arguments=(*others, chosen))


def _within_group(call: exp.AnonymousAggFunc, function: Function, order: exp.Expr, source: Source) -> Call:
    if function.name not in _WITHIN_GROUP:
        raise _form(call, source, f"{function.name} takes no WITHIN GROUP")
    if len(order.expressions) != 1:
        raise _form(call, source, "WITHIN GROUP takes one column")
    (key,) = order.expressions
    if key.args.get("desc"):
        raise refusal(
            Code.AGGREGATE_FORM,
            "this version does not execute WITHIN GROUP (ORDER BY … DESC)",
            span(key, source),
            help="a percentile p from above is 1 - p from below" if function.name == "PERCENTILE_CONT" else None,
        )
    if function.name == "MODE":
        _check_count(call, function, not call.expressions, source, "no argument beside WITHIN GROUP")
        return Call(function, (key.this.unnest(),))
    _check_count(call, function, len(call.expressions) == 1, source, "one argument beside WITHIN GROUP")
    return _percentile(function, key.this, call.expressions[0], source)


def _percentile(function: Function, argument: exp.Expr, given: exp.Expr, source: Source) -> Call:
    many = isinstance(given, exp.Array)
    percentages = tuple(_percentage(each, source) for each in (given.expressions if many else [given]))
    return Call(function, (argument.unnest(),), percentages, many)


def _percentage(node: exp.Expr, source: Source) -> float:
    value = node.unnest()
    if isinstance(value, exp.Literal) and not value.is_string and 0 <= float(value.name) <= 1:
        return float(value.name)
    raise _form(node, source, "a percentage is a number from 0 to 1 here, or an ARRAY of them")


def _check_count(node: exp.Expr, function: Function, right: bool, source: Source, wanted: str) -> None:
    if not right:
        raise _form(node, source, f"{function.name} takes {wanted} here")


def _form(node: exp.Expr, source: Source, message: str) -> CaesuraError:
    return refusal(Code.AGGREGATE_FORM, message, span(node, source))
