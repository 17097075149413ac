"""Columns, literals, casts, and parts of values."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql import arithmetic
from caesura.sql.datatypes import VOID, element, field, interval_type, struct, to_type
from caesura.sql.inference.dispatch import infer, wrong
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import BIGINT, BOOLEAN, STRING, Type


@infer.register
def _(node: exp.Column, source: Source) -> Type:
    type: Type = node.meta["type"]  # set when the name was resolved
    return type


@infer.register
def _(node: exp.Literal, source: Source) -> Type:
    if node.is_string:
        return STRING
    whole, _, fraction = node.name.partition(".")
    if not node.name.replace(".", "", 1).isdecimal():
        return arithmetic.DOUBLE  # 1e3
    if "." in node.name:
        digits = len(whole.lstrip("0")) + len(fraction)
        return arithmetic.bounded(max(digits, 1), len(fraction))
    value = int(whole)
    if value < 2**31:
        return arithmetic.INT
    return BIGINT if value < 2**63 else arithmetic.bounded(len(whole), 0)


@infer.register
def _(node: exp.Boolean, source: Source) -> Type:
    return BOOLEAN


@infer.register
def _(node: exp.Null, source: Source) -> Type:
    return VOID


@infer.register
def _(node: exp.Paren, source: Source) -> Type:
    return infer(node.this, source)


@infer.register
def _(node: exp.RawString, source: Source) -> Type:
    return STRING


@infer.register
def _(node: exp.HexString, source: Source) -> Type:
    return Type("BINARY")


@infer.register
def _(node: exp.Interval, source: Source) -> Type:
    if not isinstance(node.this, exp.Literal):
        raise refusal(
            Code.EXPRESSION,
            "the length of an interval is a number here",
            span(node, source),
            help="multiply: n * INTERVAL 1 SECOND",
        )
    unit = node.args.get("unit")
    units = {one.name for one in unit.find_all(exp.Var)} if unit is not None else _words(node.this.name)
    return interval_type(units)


def _words(text: str) -> set[str]:
    """The units inside `INTERVAL '1 day 2 hours'`."""
    return {word for word in text.split() if word.isalpha()}


@infer.register(exp.Cast)
@infer.register(exp.TryCast)
def _(node: exp.Cast, source: Source) -> Type:
    infer(node.this, source)
    if node.args.get("format") or node.args.get("action"):
        raise refusal(Code.EXPRESSION, "CAST takes no FORMAT here", span(node, source))
    found = to_type(node.to)
    if found is None:
        raise refusal(Code.UNKNOWN_TYPE, "Spark has no such type", span(node.to, source) or span(node, source))
    return found


@infer.register
def _(node: exp.Bracket, source: Source) -> Type:
    found = element(infer(node.this, source)) if len(node.expressions) == 1 else None
    for index in node.expressions:
        infer(index, source)
    if found is None:
        raise wrong(node, source, "only arrays and maps have elements")
    return found


@infer.register
def _(node: exp.Struct, source: Source) -> Type:
    fields = [each for each in node.expressions if isinstance(each, exp.PropertyEQ)]
    if len(fields) < len(node.expressions):
        raise wrong(node, source, "the fields of a STRUCT are named here: STRUCT(a AS x, b AS y)")
    return struct({each.name: infer(each.expression, source) for each in fields})


@infer.register
def _(node: exp.Dot, source: Source) -> Type:
    if isinstance(node.this, exp.Anonymous) and node.this.name == "window":  # as the binder spells its start
        return infer(node.this.expressions[0], source)
    owner = infer(node.this, source)
    found = field(owner, node.name)
    if found is None:
        raise refusal(
            Code.UNKNOWN_COLUMN, f"unknown field `{node.name}`", span(node, source), f"the value is {owner}"
        )
    return found
