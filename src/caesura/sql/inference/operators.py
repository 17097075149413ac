"""Arithmetic, bits and the joining of texts."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.sql import arithmetic
from caesura.sql.datatypes import INTERVALS
from caesura.sql.inference.dispatch import infer, wrong
from caesura.types import BIGINT, STRING, Type

_ARITHMETIC: dict[type[exp.Expr], Callable[[Type, Type], Type | None]] = {
    exp.Add: arithmetic.plus,
    exp.Sub: arithmetic.minus,
    exp.Mul: arithmetic.times,
    exp.Div: arithmetic.divide,
    exp.Mod: arithmetic.modulo,
    exp.SafeAdd: arithmetic.plus,
    exp.SafeSubtract: arithmetic.minus,
    exp.SafeMultiply: arithmetic.times,
    exp.SafeDivide: arithmetic.divide,
}
# The one negative number of each type whose positive counterpart needs a wider one
_LOWEST = {str(2**31): arithmetic.INT, str(2**63): BIGINT}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}


@infer.register(exp.Add)
@infer.register(exp.Sub)
@infer.register(exp.Mul)
@infer.register(exp.Div)
@infer.register(exp.Mod)
@infer.register(exp.SafeAdd)
@infer.register(exp.SafeSubtract)
@infer.register(exp.SafeMultiply)
@infer.register(exp.SafeDivide)
def _(node: exp.Expr, source: Source) -> Type:
    left, right = infer(node.this, source), infer(node.expression, source)
    if "DECIMAL" in (left.kind, right.kind):
        left, right = _literal_digits(node.this, left), _literal_digits(node.expression, right)
    found = _ARITHMETIC[type(node)](left, right)
    if found is None:
        raise wrong(
            node,
            source,
            f"{_word(node)} does not take {left} and {right}",
            help="CAST one side to a type that fits",
        )
    return found


def _literal_digits(node: exp.Expr, type: Type) -> Type:
    """Next to a decimal, Spark gives an integer literal just the digits it has."""
    if isinstance(node, exp.Literal) and type.integral:
        return Type(f"DECIMAL({len(str(int(node.name)))}, 0)")
    return type


@infer.register
def _(node: exp.IntDiv, source: Source) -> Type:
    left, right = infer(node.left, source), infer(node.right, source)
    if not (left.numeric and right.numeric):
        raise wrong(node, source, f"DIV does not take {left} and {right}")
    return BIGINT


@infer.register
def _(node: exp.Neg, source: Source) -> Type:
    if isinstance(node.this, exp.Literal) and node.this.name in _LOWEST:
        return _LOWEST[node.this.name]
    found = infer(node.this, source)
    if not (found.numeric or found in INTERVALS):
        raise wrong(node, source, f"`-` does not take {found}")
    return found


@infer.register
def _(node: exp.BitwiseNot, source: Source) -> Type:
    found = infer(node.this, source)
    if not found.integral:
        raise wrong(node, source, f"`~` does not take {found}")
    return found


@infer.register(exp.BitwiseLeftShift)
@infer.register(exp.BitwiseRightShift)
def _(node: exp.Binary, source: Source) -> Type:
    left, right = infer(node.left, source), infer(node.right, source)
    if not (left.integral and right.integral):
        raise wrong(node, source, f"{_word(node)} does not take {left} and {right}")
    return left if left == BIGINT else arithmetic.INT


@infer.register(exp.BitwiseAnd)
@infer.register(exp.BitwiseOr)
@infer.register(exp.BitwiseXor)
def _(node: exp.Binary, source: Source) -> Type:
    left, right = infer(node.left, source), infer(node.right, source)
    found = arithmetic.common(left, right)
    if found is None or not found.integral:
        raise wrong(node, source, f"{_word(node)} does not take {left} and {right}")
    return found


@infer.register
def _(node: exp.DPipe, source: Source) -> Type:
    for side in (node.left, node.right):
        infer(side, source)
    return STRING


def _word(node: exp.Expr) -> str:
    """`+` as one reads it in a message."""
    return f"`{_SIGNS.get(node.key, node.key)}`"
