"""What the conjuncts of predicates say, taken apart in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from caesura.expression import Expr, columns_of
from caesura.plan import Join
from caesura.types import BOOLEAN

_STRICT = frozenset(
    (
        *(exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Interval, exp.IntervalSpan, exp.Var),
        *(exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Floor, exp.Ceil),
        *(exp.Cast, exp.DataType, exp.DataTypeParam, exp.TsOrDsToDate, exp.TimestampTrunc, exp.Year),
        *(exp.UnixSeconds, exp.UnixMillis, exp.UnixMicros),
    )
)
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


def null_with(tree: exp.Expr) -> frozenset[str]:
    """The columns of an expression that is NULL where one of them is, and nowhere else; empty for any other.

    A wrong cast, a division by 0 and a value out of range are errors to Spark, and not NULL.
    """
    return columns_of(tree) if all(map(_strict, tree.walk())) else frozenset()


def _strict(node: exp.Expr) -> bool:
    return type(node) in _STRICT or (isinstance(node, exp.Anonymous) and node.name == "DATE_FORMAT")


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
    return any(isinstance(side, exp.Expr) and column in null_with(side) for side in sides)


def asks_value(condition: Expr, tree: exp.Expr) -> bool:
    """Whether the condition says in so many words that the expression is not NULL."""
    return any(_present(part) == tree for part in conjuncts(condition.tree))


def _is_not_null(conjunct: exp.Expr, column: str) -> bool:
    tree = _present(conjunct)
    return tree is not None and column in null_with(tree)


def _present(conjunct: exp.Expr) -> exp.Expr | None:
    """Of `x IS NOT NULL` the x."""
    match conjunct:
        case exp.Not(this=exp.Is(this=tree, expression=exp.Null())):
            found: exp.Expr = tree.unnest()
            return found
        case _:
            return None
