"""Inputs and conditions to one plan: a filter over each input, and one n-ary join over all of them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from caesura.diagnostics import Span
from caesura.expression import Expr
from caesura.plan import Equality, Filter, Join, JoinKind, Plan
from caesura.sql.expressions import conjunction
from caesura.types import Type


def assemble(plans: tuple[Plan, ...], conditions: tuple[Expr, ...], at: Span | None) -> Plan:
    """Every condition has one place: over the only input it touches, as an equality, or in the residual."""
    if len(plans) == 1:
        return _filter(plans[0], conditions)
    return join_of("inner", plans, conditions, at)


def join_of(kind: JoinKind, plans: tuple[Plan, ...], conditions: tuple[Expr, ...], at: Span | None) -> Join:
    """A condition on one input goes below the join, unless that input's rows come out where it does not hold."""
    owner = {column.name: k for k, plan in enumerate(plans) for column in plan.columns}
    types = {column.name: column.type for plan in plans for column in plan.columns}
    bare = Join(plans, (), None, kind, at)
    single: list[list[Expr]] = [[] for _ in plans]
    equalities: list[Equality] = []
    residual: list[Expr] = []
    for expr in conditions:
        touched = {owner[name] for name in expr.columns} or {0}
        equality = _equality(expr, types)
        if len(touched) == 1 and touched.isdisjoint(bare.lonely):
            single[min(touched)].append(expr)
        elif len(touched) > 1 and equality is not None:
            equalities.append(equality)
        else:
            residual.append(expr)
    filtered = tuple(_filter(plan, parts) for plan, parts in zip(plans, single, strict=True))
    return Join(filtered, tuple(equalities), conjunction(residual), kind, at)


def _filter(plan: Plan, parts: Iterable[Expr]) -> Plan:
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
