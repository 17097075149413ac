"""THEORY section 9: columns that take finitely many values, by their type, a CHECK, a filter or a table.

What is kept per value of such columns is bounded without any punctuation.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from caesura.catalog import Table
from caesura.expression import Expr
from caesura.plan import Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort
from caesura.safety.equality import conjuncts, equality_classes, matching_classes
from caesura.types import Type

_FINITE_TYPES = ("BOOLEAN", "TINYINT")


def domain(plan: Plan, column: str) -> str | None:
    """Why `column` of `plan` has finitely many values, as a clause; None if nothing says so."""
    type = next(each.type for each in plan.columns if each.name == column)
    if type.kind in _FINITE_TYPES:
        return f"it is a {type}"
    classes = matching_classes(plan) if isinstance(plan, Join) else equality_classes(plan)
    same = next((each for each in classes if column in each.columns), None)
    if same is not None and same.constant is not None and not _padded(plan):
        return f"it is {same.constant.sql}"
    match plan:
        case Scan(relation=relation, alias=alias):
            if isinstance(relation, Table):
                return f"`{relation.name}` is finite"
            return _said((each.condition for each in relation.checks), column.removeprefix(f"{alias}."), type)
        case Filter(input=below, predicate=predicate):
            return _said((predicate,), column, type) or domain(below, column)
        case Project(input=below, outputs=outputs):
            source = next(output.expr.column for output in outputs if output.name == column)
            return domain(below, source) if source is not None else None
        case Group(input=below, keys=keys):
            return domain(below, column) if column in keys else None
        case Distinct(input=below) | Sort(input=below):
            return domain(below, column)
        case Compare(inputs=(below, other), kind=kind):
            return domain(below, column) or (domain(other, column) if kind == "intersect" else None)
        case Merge(inputs=several):
            every = [domain(each, column) for each in several]
            return every[0] if all(every) else None
        case Join(inputs=several, kind=kind):
            alike = same.columns if same is not None and kind in ("inner", "semi") else (column,)
            found = (
                domain(each, c.name)
                for each in several
                for c in each.columns
                if c.name in alike or c.name == column
            )
            return next(filter(None, found), None)


def _padded(plan: Plan) -> bool:
    """Whether an outer join may put a NULL, or another value than the matching ones, there."""
    return isinstance(plan, Join) and plan.kind not in ("inner", "semi")


def _said(conditions: Iterable[Expr], column: str, type: Type) -> str | None:
    low = high = None
    for condition in conditions:
        for conjunct in conjuncts(condition.tree):
            match conjunct:
                case exp.In(this=exp.Column() as one, expressions=list() as values) if one.name == column:
                    if values and all(each.find(exp.Column) is None for each in values):
                        return _text(conjunct)
                case exp.Between(this=exp.Column() as one) if one.name == column and type.enumerable:
                    if all(_constant(conjunct.args[end]) for end in ("low", "high")):
                        return _text(conjunct)
                case exp.LT() | exp.LTE() | exp.GT() | exp.GTE() if type.enumerable:
                    left, right = conjunct.left, conjunct.right
                    rising = isinstance(conjunct, exp.LT | exp.LTE)
                    if _is(left, column) and _constant(right):
                        low, high = (low, conjunct) if rising else (conjunct, high)
                    elif _is(right, column) and _constant(left):
                        low, high = (conjunct, high) if rising else (low, conjunct)
                case _:
                    pass
    return f"{_text(low)} and {_text(high)}" if low is not None and high is not None else None


def _is(tree: exp.Expr, column: str) -> bool:
    return isinstance(tree, exp.Column) and tree.name == column


def _constant(tree: exp.Expr) -> bool:
    return tree.find(exp.Column) is None


def _text(tree: exp.Expr) -> str:
    return tree.sql(dialect="spark").replace("`", "")
