"""What a WHERE computes of every row, and the SELECT above it again, is computed once, before both.

It is what the WHERE computes first: the rest, such as what stands behind an AND, it may compute of some rows only,
and of the others it may be an error.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from caesura.expression import Expr, sql
from caesura.operators.select import VALUE
from caesura.plan import Filter, Project

_CHEAP = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast)
"""To the parser these are functions too."""


def repeated(project: Project) -> exp.Expr | None:
    """A function in the WHERE below that is called in the projection too, with the same arguments."""
    if not isinstance(project.input, Filter):
        return None
    called = {each for output in project.outputs for each in output.expr.tree.walk() if _is_function(each)}
    return _first(project.input.predicate.tree, called)


def reading(expr: Expr, value: exp.Expr | None) -> str:
    """The expression as SQL, which reads that value where it would compute it."""
    read = exp.column(VALUE, quoted=True)
    return sql(expr.tree.transform(lambda each: read if each == value else each))


def _first(tree: exp.Expr, called: Collection[exp.Expr]) -> exp.Expr | None:
    """The one that is computed before the rest of the tree: of all operators the first operand is."""
    while not _is_function(tree):
        if not isinstance(tree.this, exp.Expr):
            return None
        tree = tree.this
    return tree if tree in called else None


def _is_function(tree: exp.Expr) -> bool:
    """A time bucket is none: rows are put into it."""
    functions = isinstance(tree, exp.Func) and not isinstance(tree, _CHEAP)
    return functions and not (isinstance(tree, exp.Anonymous) and tree.name == "window")
