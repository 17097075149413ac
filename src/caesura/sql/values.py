"""VALUES: rows of constants, and the types that their columns have in common."""

from __future__ import annotations

from sqlglot import exp

from caesura.catalog import Column, Values
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.plan import Scan
from caesura.sql import arithmetic
from caesura.sql.expressions import scalar, typed
from caesura.sql.names import Input, Named, Reach, check_count
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.sql.unsupported import refuse_extras
from caesura.types import Type


def bind_values(item: exp.Values, alias: str, source: Source) -> Input:
    """Columns without a name are called as in Spark."""
    refuse_extras(item, {"expressions", "alias"}, source)
    rows, types = _rows(item, source)
    usual = [f"col{n}" for n in range(1, len(types) + 1)]
    names = item.alias_column_names
    if names:
        check_count(alias, names, usual, span(item.args["alias"], source))
    at = span(item, source)
    scan = Scan(Values(alias, tuple(map(Column, names or usual, types)), rows, at), alias, span=at)
    return Input(alias, scan, tuple(map(Named, names or usual, scan.columns)))


def _rows(values: exp.Values, source: Source) -> tuple[tuple[tuple[Expr, ...], ...], tuple[Type, ...]]:
    """The rows, and the type of each column."""
    rows = tuple(_row(row, source) for row in values.expressions)
    for row, tree in zip(rows, values.expressions, strict=True):
        if len(row) != len(rows[0]) or not row:
            raise refusal(
                Code.ALIAS_COUNT,
                f"this row has {len(row)} values, the first {len(rows[0])}" if row else "a row has no values",
                span(tree, source),
            )
    return rows, tuple(_common(column, source) for column in zip(*rows, strict=True))


def _row(row: exp.Expr, source: Source) -> tuple[Expr, ...]:
    cells = row.expressions if isinstance(row, exp.Tuple) else [row]
    return tuple(_constant(cell, source) for cell in cells)


def _constant(tree: exp.Expr, source: Source) -> Expr:
    column = tree.find(exp.Column)
    if column is not None:
        raise refusal(
            Code.EXPRESSION,
            "VALUES takes constants",
            span(column, source),
            "a column",
            because="it is a relation by itself, and reads no other",
            help="SELECT … FROM …",
        )
    return typed(scalar(tree, Reach(source, (), ()), "VALUES"), source)


def _common(cells: tuple[Expr, ...], source: Source) -> Type:
    """As Spark has it, except that a text and a number have nothing in common."""
    widest = cells[0].type
    for cell in cells[1:]:
        found = arithmetic.common(widest, cell.type)
        if found is None:
            raise refusal(
                Code.INCOMPARABLE,
                f"this is {cell.type}, and the column is {widest} in the rows before",
                cell.span,
                help=f"say what is meant with CAST(… AS {widest})",
            )
        widest = found
    return widest
