"""ORDER BY: positions, names of the result, or expressions that the select list repeats."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.plan import SortKey
from caesura.sql.refusal import listing, refusal
from caesura.sql.spans import span


def sort_keys(
    query: exp.Expr, names: list[str], computed: Callable[[exp.Expr], str | None], source: Source
) -> tuple[SortKey, ...]:
    """`computed` finds the column of the result that an expression stands for."""
    order = query.args.get("order")
    return tuple(_key(node, names, computed, source) for node in order.expressions) if order else ()


def _key(node: exp.Expr, names: list[str], computed: Callable[[exp.Expr], str | None], source: Source) -> SortKey:
    value = node.this if isinstance(node, exp.Ordered) else node
    descending = bool(node.args.get("desc"))
    nulls_first = bool(node.args.get("nulls_first", not descending))
    column = _column(value, names, source) or computed(value)
    if column is None:
        raise refusal(
            Code.CLAUSE,
            "ORDER BY takes columns of the result",
            span(value, source),
            because=f"the columns are {listing(names)}",
            help="select it, under a name of its own",
        )
    return SortKey(column, descending, nulls_first)


def position(node: exp.Expr, count: int, source: Source) -> int | None:
    """The index that a number in GROUP BY or ORDER BY means; None for anything else."""
    if not (isinstance(node, exp.Literal) and node.is_int):
        return None
    number = int(node.name)
    if not 1 <= number <= count:
        raise refusal(
            Code.GROUP_POSITION,
            f"the select list has no position {number}",
            span(node, source),
            because=f"it has {count}",
        )
    return number - 1


def _column(value: exp.Expr, names: list[str], source: Source) -> str | None:
    index = position(value, len(names), source)
    if index is not None:
        return names[index]
    if isinstance(value, exp.Column) and not value.table:
        return next((name for name in names if name.lower() == value.name.lower()), None)
    return None
