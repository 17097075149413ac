"""What a WHERE computes of every row, and the SELECT above it again, is computed once, before both.

It is what the WHERE computes first: the rest, such as what stands behind an AND, it may compute of some rows only,
and of the others it may be an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from caesura.expression import Expr, columns_of, sql
from caesura.operators.select import VALUE
from caesura.plan import Filter, Output, Project, Scan, walk
from caesura.sql.rewrite import rewrite

_SLOW = (
    exp.RegexpExtract,
    exp.RegexpReplace,
    exp.RegexpSplit,
    exp.SplitPart,
    exp.JSONExtractScalar,
    exp.MD5,
    exp.SHA2,
)
"""Functions that go through a text: of the others most take no longer than one more column."""
_FIRST = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast)
"""What are functions to the parser too, and compute their first argument before all else."""
_LAST = (exp.Func, exp.Div, exp.IntDiv, exp.Mod)
"""A function may compute another argument first. A division does: the divisor, and where that is NULL no more."""


def repeated(filter: Filter, outputs: Iterable[Output]) -> exp.Expr | None:
    """A function in a WHERE that is called in what is selected too, with the same arguments. Over a join or a
    group Spark may move the WHERE below it, which is worth more."""
    if not all(isinstance(each, Scan | Filter | Project) for each in walk(filter)):
        return None
    called = {each for output in outputs for each in output.expr.tree.walk() if isinstance(each, _SLOW)}
    first = _first(filter.predicate.tree)
    return first if first in called and columns_of(first) else None


def reading(expr: Expr, value: exp.Expr | None) -> str:
    """The expression as SQL, which reads that value where it would compute it."""
    if value is None:
        return expr.sql
    read = exp.column(VALUE, quoted=True)
    return sql(rewrite(expr.tree, lambda each: read if each == value else None))


def _first(tree: exp.Expr) -> exp.Expr:
    """The function that is computed before the rest of the tree, as the first operand of an operator is; or where
    that cannot be told."""
    while not isinstance(tree, _SLOW):
        known = isinstance(tree, _FIRST) or not isinstance(tree, _LAST)
        if not known or not isinstance(tree.this, exp.Expr):
            break
        tree = tree.this
    return tree
