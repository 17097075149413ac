"""What the conjuncts of predicates say, taken apart in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from caesura.expression import Expr
from caesura.plan import Join
from caesura.types import BOOLEAN

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like)


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    match tree:
        case exp.Paren():
            yield from conjuncts(tree.this)
        case exp.And():
            yield from conjuncts(tree.left)
            yield from conjuncts(tree.right)
        case _:
            yield tree


def conditions(join: Join) -> tuple[exp.Expr, ...]:
    """What a join asks besides equalities, part by part."""
    return () if join.residual is None else tuple(conjuncts(join.residual.tree))


def all_of(parts: Collection[exp.Expr]) -> Expr | None:
    """The condition that all of them hold, if there are any."""
    return Expr(exp.and_(*parts), BOOLEAN) if parts else None


def constant(tree: exp.Expr) -> bool:
    """No column is in it, and the binder has seen to it that nothing else varies."""
    return tree.find(exp.Column) is None


def names(tree: exp.Expr, column: str) -> bool:
    """Whether it is this column and nothing else."""
    return isinstance(tree, exp.Column) and tree.name == column


def excludes_null(condition: Expr, column: str) -> bool:
    """Whether the condition is true of no row with a NULL in `column`."""
    return any(
        _compares(conjunct, column) or _is_not_null(conjunct, column) for conjunct in conjuncts(condition.tree)
    )


def demands_value(condition: Expr, column: str) -> bool:
    """Whether a CHECK of the condition is broken by a NULL. One that compares is not: it is unknown then."""
    return any(_is_not_null(part, column) for part in conjuncts(condition.tree))


def _compares(conjunct: exp.Expr, column: str) -> bool:
    if not isinstance(conjunct, _COMPARISONS):
        return False
    sides = (conjunct.this, *(conjunct.args.get(name) for name in ("expression", "low", "high")))
    return any(isinstance(side, exp.Expr) and names(side, column) for side in sides)


def _is_not_null(conjunct: exp.Expr, column: str) -> bool:
    match conjunct:
        case exp.Not(this=exp.Is(this=one, expression=exp.Null())):
            return names(one, column)
        case _:
            return False
