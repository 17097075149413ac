"""THEORY section 3: expressions that keep the order of a column, so that its rising bound is one of theirs too."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from caesura.expression import Expr
from caesura.safety.predicates import constant
from caesura.types import Type


def rises_with(expr: Expr, types: Mapping[str, Type]) -> str | None:
    """The column that the expression never falls with, if there is one."""
    found = _rising(expr.tree, types)
    return found[0] if found is not None else None


def _rising(tree: exp.Expr, types: Mapping[str, Type]) -> tuple[str, Type] | None:
    """The column, and the type of the expression over it."""
    match tree:
        case exp.Column():
            return tree.name, types[tree.name]
        case exp.Paren() | exp.TimestampTrunc() | exp.DateTrunc() | exp.Floor() | exp.Ceil():
            return _rising(tree.this, types)
        case exp.TsOrDsToDate() if tree.args.get("format") is None:
            return _cast(_rising(tree.this, types), Type("DATE"))
        case exp.Cast(to=to):  # TryCast is one
            return _cast(_rising(tree.this, types), Type(to.sql(dialect="spark").upper()))
        case exp.Add() if constant(tree.right):
            return _rising(tree.left, types)
        case exp.Add() if constant(tree.left):
            return _rising(tree.right, types)
        case exp.Sub() if constant(tree.right):
            return _rising(tree.left, types)
        case _:
            return None


def _cast(inner: tuple[str, Type] | None, to: Type) -> tuple[str, Type] | None:
    return (inner[0], to) if inner is not None and _keeps_order(inner[1], to) else None


def _keeps_order(one: Type, other: Type) -> bool:
    """Numbers stay ordered as numbers and times as times. A text is ordered by its letters, and a wall clock goes
    back once a year."""
    clocks = {one.kind, other.kind} == {"TIMESTAMP", "TIMESTAMP_NTZ"}
    return (one.numeric and other.numeric) or (one.temporal and other.temporal and not clocks)
