"""Conditions: comparisons, patterns and what joins them."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql import arithmetic
from caesura.sql.datatypes import INTERVALS, VOID
from caesura.sql.inference.dispatch import infer, wrong
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import BOOLEAN, Type


def truth(node: exp.Expr, source: Source, what: str = "the condition") -> Type:
    """The type of a condition: BOOLEAN, or NULL, which is no true condition either."""
    found = infer(node, source)
    if not (found.boolean or found == VOID):
        raise refusal(Code.NOT_BOOLEAN, f"{what} is not boolean", span(node, source), f"this is {found}")
    return BOOLEAN


@infer.register(exp.And)
@infer.register(exp.Or)
@infer.register(exp.Xor)
def _(node: exp.Connector, source: Source) -> Type:
    for side in (node.left, node.right):
        truth(side, source)
    return BOOLEAN


@infer.register
def _(node: exp.Not, source: Source) -> Type:
    return truth(node.this, source)


def _comparable(left: Type, right: Type) -> bool:
    return (
        VOID in (left, right)
        or left.comparable(right)
        or (left in INTERVALS and right in INTERVALS and arithmetic.common(left, right) is not None)
    )


def check_comparable(source: Source, left: exp.Expr, right: exp.Expr) -> None:
    one, other = infer(left, source), infer(right, source)
    if _comparable(one, other):
        return
    at = span(left, source)
    to = span(right, source)
    raise refusal(
        Code.INCOMPARABLE,
        f"{one} and {other} do not compare",
        at.to(to) if at and to else at or to,
        because="Spark would have to guess at the meaning of one of them",
        help=_cast_help(left, one, right, other),
    )


def _cast_help(left: exp.Expr, one: Type, right: exp.Expr, other: Type) -> str:
    for literal, type in ((left, other), (right, one)):
        if literal.is_string and type.kind in ("DATE", "TIMESTAMP"):
            return f"write {type.kind} {literal.sql('spark')}"
    return f"say what is meant with CAST(… AS {one if other.text else other})"


@infer.register(exp.EQ)
@infer.register(exp.NEQ)
@infer.register(exp.LT)
@infer.register(exp.LTE)
@infer.register(exp.GT)
@infer.register(exp.GTE)
@infer.register(exp.NullSafeEQ)
@infer.register(exp.NullSafeNEQ)
def _(node: exp.Binary, source: Source) -> Type:
    check_comparable(source, node.left, node.right)
    return BOOLEAN


@infer.register
def _(node: exp.Between, source: Source) -> Type:
    for bound in (node.args["low"], node.args["high"]):
        check_comparable(source, node.this, bound)
    return BOOLEAN


@infer.register
def _(node: exp.In, source: Source) -> Type:
    if not node.expressions:
        raise refusal(Code.EXPRESSION, "IN takes a list of values here", span(node, source))
    for value in node.expressions:
        check_comparable(source, node.this, value)
    return BOOLEAN


@infer.register
def _(node: exp.Is, source: Source) -> Type:
    infer(node.this, source)
    if not isinstance(node.expression.unnest(), exp.Null | exp.Boolean):
        raise refusal(Code.EXPRESSION, "IS takes NULL, TRUE or FALSE here", span(node, source))
    if isinstance(node.expression, exp.Boolean):
        truth(node.this, source)
    return BOOLEAN


@infer.register(exp.Like)
@infer.register(exp.ILike)
@infer.register(exp.RegexpLike)
def _(node: exp.Expr, source: Source) -> Type:
    for side in (node.this, node.expression):
        found = infer(side, source)
        if not (found.text or found == VOID):
            raise wrong(side, source, f"a pattern is matched against a text, not {found}")
    return BOOLEAN


@infer.register
def _(node: exp.Escape, source: Source) -> Type:
    infer(node.expression, source)
    return infer(node.this, source)
