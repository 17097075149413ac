"""THEORY section 3: expressions that keep the order of a column, so that its rising bound is one of theirs too."""

from __future__ import annotations

from sqlglot import exp

from caesura.expression import Expr
from caesura.types import Type


def rises_with(expr: Expr, types: dict[str, Type]) -> str | None:
    """The column that the expression never falls with, if there is one."""
    return _rises_with(expr.tree, expr.type, types)


def _rises_with(tree: exp.Expr, type: Type, types: dict[str, Type]) -> str | None:
    match tree:
        case exp.Column():
            return tree.name
        case exp.Paren() | exp.TimestampTrunc() | exp.DateTrunc() | exp.Floor() | exp.Ceil():
            return _rises_with(tree.this, type, types)
        case exp.TsOrDsToDate() if tree.args.get("format") is None:
            column = _rises_with(tree.this, type, types)
            return column if column is not None and types[column].temporal else None
        case exp.Cast():  # TryCast is one
            column = _rises_with(tree.this, type, types)
            return column if column is not None and _keeps_order(types[column], type) else None
        case exp.Add():
            left, right = (_rises_with(side, type, types) for side in (tree.left, tree.right))
            return left if _constant(tree.right) else right if _constant(tree.left) else None
        case exp.Sub() if _constant(tree.right):
            return _rises_with(tree.left, type, types)
        case _:
            return None


def _constant(tree: exp.Expr) -> bool:
    return tree.find(exp.Column) is None


def _keeps_order(one: Type, other: Type) -> bool:
    """Numbers stay ordered as numbers and times as times; a text is ordered by its letters."""
    return (one.numeric and other.numeric) or (one.temporal and other.temporal) or (one.text and other.text)
