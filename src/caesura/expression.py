"""A bound scalar expression: a typed sqlglot tree over the columns of one plan node."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from caesura.diagnostics import Span
from caesura.types import Type


@dataclass(frozen=True)
class Expr:
    """`tree` refers to columns by their plan names alone; nobody changes it after binding."""

    tree: exp.Expr
    type: Type
    span: Span | None = field(default=None, compare=False)

    @property
    def sql(self) -> str:
        """Spark SQL, generated from the tree: the user's own text never reaches Spark."""
        return sql(self.tree)

    @property
    def columns(self) -> frozenset[str]:
        return columns_of(self.tree)

    @property
    def column(self) -> str | None:
        """The column's name if the expression is a column and nothing else."""
        return self.tree.name if isinstance(self.tree, exp.Column) else None


def sql(tree: exp.Expr) -> str:
    """As Spark reads it."""
    return tree.sql(dialect="spark", comments=False)


def columns_of(tree: exp.Expr) -> frozenset[str]:
    """The names of the columns in it."""
    return frozenset(column.name for column in tree.find_all(exp.Column))


def shown(tree: exp.Expr) -> str:
    """SQL for people to read, without the quotes that plan names need."""
    return sql(tree).replace("`", "")


def column(name: str, type: Type, span: Span | None = None) -> Expr:
    return Expr(exp.column(name, quoted=True), type, span)
