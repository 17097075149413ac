"""Scalar expressions: syntax in, `Expr` out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.sql.inference import infer, truth
from caesura.sql.names import Reach, resolve
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.sql.unsupported import refuse_expressions
from caesura.types import BOOLEAN

# What sqlglot's generator raises, besides its own error, on calls with arguments missing.
_GENERATOR_LEAKS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def bound(tree: exp.Expr, reach: Reach, aliases: Mapping[str, exp.Expr] | None = None) -> exp.Expr:
    """The tree over plan columns; not yet typed, and aggregates still in place."""
    refuse_expressions(tree, reach.source)
    return resolve(tree, reach, aliases)


def typed(tree: exp.Expr, source: Source) -> Expr:
    return _checked(Expr(_expression(tree), infer(tree, source), span(tree, source)), source)


def condition(tree: exp.Expr, source: Source, what: str) -> Expr:
    truth(tree, source, what)
    return _checked(Expr(_expression(tree), BOOLEAN, span(tree, source)), source)


def scalar(tree: exp.Expr, reach: Reach, what: str) -> exp.Expr:
    """Bound, and free of aggregates."""
    found = bound(tree, reach)
    refuse_aggregates(found, reach.source, what)
    return found


def refuse_aggregates(tree: exp.Expr, source: Source, what: str) -> None:
    found = tree.find(exp.AggFunc)
    if found is not None:
        raise refusal(
            Code.MISPLACED_AGGREGATE, f"{what} cannot hold an aggregate", span(found, source), "an aggregate"
        )


def enclosed(tree: exp.Expr) -> exp.Expr:
    """The tree in a form that keeps its meaning in the place of a name: `a + 1` becomes `(a + 1)`."""
    whole = isinstance(tree, exp.Column) or (isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary))
    return tree if whole else exp.Paren(this=tree.copy())


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that all must hold, in order; TRUE among them says nothing and is left out."""
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    elif not (isinstance(tree, exp.Boolean) and tree.this):
        yield tree


def conjunction(parts: Iterable[Expr]) -> Expr | None:
    several = list(parts)
    if len(several) <= 1:
        return several[0] if several else None
    spans = [part.span for part in several if part.span is not None]
    hull = spans[0] if spans else None
    for one in spans[1:]:
        hull = hull.to(one) if hull else one
    return Expr(_expression(exp.and_(*(part.tree for part in several))), BOOLEAN, hull)


def _expression(tree: exp.Expr) -> exp.Expression:
    assert isinstance(tree, exp.Expression), "every node that the parser makes is one"
    return tree


def _checked(expr: Expr, source: Source) -> Expr:
    """Refuses what Spark SQL has no words for, so that `Expr.sql` always has."""
    if expr.column is not None:
        return expr
    try:
        expr.tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE, comments=False)
    except UnsupportedError as error:
        raise refusal(Code.EXPRESSION, "Spark cannot express this", expr.span, str(error)) from error
    except _GENERATOR_LEAKS as error:
        raise refusal(Code.EXPRESSION, "this call lacks something", expr.span) from error
    return expr
