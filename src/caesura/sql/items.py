"""The select list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from caesura.diagnostics import Label, Source
from caesura.diagnostics.code import Code
from caesura.sql.expressions import bound, enclosed
from caesura.sql.names import Named, Reach, bound_column
from caesura.sql.naming import generated
from caesura.sql.refusal import refusal
from caesura.sql.spans import span


@dataclass(frozen=True)
class Item:
    """One column of the select list: its name, and its tree over the columns in reach."""

    name: str
    tree: exp.Expr
    at: exp.Expr


def bind_items(select: exp.Select, reach: Reach, names: Mapping[str, exp.Expr] | None = None) -> list[Item]:
    """The select list. An alias may be used by the items after it, as in Spark; `names` by all."""
    items: list[Item] = []
    aliases = dict(names or {})
    for node in select.expressions:
        if node.is_star:
            items += [
                Item(one.name, bound_column(one.column.name, one.column.type, node), node)
                for one in _starred(node, reach)
            ]
            continue
        value = node.this if isinstance(node, exp.Alias) else node
        if isinstance(node, exp.Aliases) or isinstance(node.args.get("alias"), exp.Placeholder):
            raise refusal(Code.EXPRESSION, "an alias is one name here", span(node, reach.source))
        tree = bound(value, reach, aliases)
        name = node.alias if isinstance(node, exp.Alias) else _name(value, tree, reach)
        items.append(Item(name, tree, node))
        if isinstance(node, exp.Alias):
            aliases[name.lower()] = enclosed(tree)
    return items


def _starred(node: exp.Expr, reach: Reach) -> tuple[Named, ...]:
    star = node.this if isinstance(node, exp.Column) else node
    if any(star.args.get(name) for name in ("except_", "replace", "rename")):
        raise refusal(Code.CLAUSE, "this version does not execute * EXCEPT", span(node, reach.source))
    if not isinstance(node, exp.Column):
        return reach.visible
    owner = reach.input(node.table)
    if owner is None or len(node.parts) > 2:
        known = ", ".join(f"`{one.alias}`" for one in reach.inputs)
        raise refusal(
            Code.UNKNOWN_COLUMN,
            f"`{node.table}` names no input of this query",
            span(node, reach.source),
            because=f"FROM has {known}",
        )
    return owner.columns


def _name(value: exp.Expr, tree: exp.Expr, reach: Reach) -> str:
    """The name Spark gives to an expression without alias; a column keeps its declared spelling."""
    if isinstance(value, exp.Column) and isinstance(tree, exp.Column):
        columns = {named.column.name: named.name for one in reach.inputs for named in one.columns}
        return columns.get(tree.name, value.name)
    if isinstance(value, exp.Column | exp.Dot):
        return value.name.removesuffix("()")
    return generated(value)


def check_names(items: list[Item], source: Source) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        first = seen.setdefault(item.name.lower(), item)
        if first is item:
            continue
        where = span(first.at, source)
        raise refusal(
            Code.DUPLICATE_OUTPUT,
            f"two output columns are called `{item.name}`",
            span(item.at, source),
            also=[Label(where, "the first")] if where and first.at is not item.at else [],
            help="give one of them another name with AS",
        )
