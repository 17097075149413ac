"""Inputs and conditions to one plan: a filter over each input, and one n-ary join over all of them."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Span
from caesura.expression import Expr
from caesura.plan import Equality, Filter, Join, Plan
from caesura.sql.expressions import conjunction
from caesura.sql.names import Input
from caesura.types import Type


def assemble(inputs: tuple[Input, ...], conditions: tuple[Expr, ...], at: Span | None) -> Plan:
    """Every condition has one place: over the only input it touches, as an equality, or in the residual."""
    owner = {named.column.name: k for k, one in enumerate(inputs) for named in one.columns}
    types = {named.column.name: named.column.type for one in inputs for named in one.columns}
    single: list[list[Expr]] = [[] for _ in inputs]
    equalities: list[Equality] = []
    residual: list[Expr] = []
    for expr in conditions:
        touched = {owner[name] for name in expr.columns}
        equality = _equality(expr, types)
        if len(touched) == 1 or len(inputs) == 1:
            single[min(touched, default=0)].append(expr)
        elif equality is not None:
            equalities.append(equality)
        else:
            residual.append(expr)
    filtered = tuple(_filter(one.plan, parts) for one, parts in zip(inputs, single, strict=True))
    if len(filtered) == 1:
        return filtered[0]
    return Join(filtered, tuple(equalities), conjunction(residual), at)


def _filter(plan: Plan, parts: list[Expr]) -> Plan:
    predicate = conjunction(parts)
    return plan if predicate is None else Filter(plan, predicate, predicate.span)


def _equality(expr: Expr, types: dict[str, Type]) -> Equality | None:
    """Two columns with the same values in both types, so that a punctuation on one speaks of the other."""
    tree = expr.tree
    if not isinstance(tree, exp.EQ):
        return None
    left, right = tree.left.unnest(), tree.right.unnest()
    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
        return None
    one, other = types[left.name], types[right.name]
    alike = one.kind == other.kind or (one.integral and other.integral) or (one.text and other.text)
    return Equality(left.name, right.name, expr.span) if alike else None
