"""SELECT to plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from caesura.diagnostics import Label, Source
from caesura.diagnostics.code import Code
from caesura.expression import column
from caesura.plan import Distinct, Filter, Group, Output, Plan, Project, Sort, walk
from caesura.sql.expressions import bound, condition, conjuncts, enclosed, scalar, typed
from caesura.sql.grouping import Grouping
from caesura.sql.joins import assemble
from caesura.sql.names import Named, Reach, bound_column
from caesura.sql.naming import generated
from caesura.sql.refusal import refusal
from caesura.sql.relations import Derived, Scope, bind_from, check_count
from caesura.sql.setops import bind_set_operation
from caesura.sql.sorting import position, sort_keys
from caesura.sql.spans import span
from caesura.sql.syntax import Declaration
from caesura.sql.unsupported import refuse_clauses, refuse_extras, refuse_query, span_of


@dataclass(frozen=True)
class Item:
    """One column of the select list: its name, and its tree over the columns in reach."""

    name: str
    tree: exp.Expr
    at: exp.Expr


def bind_query(query: exp.Expr, scope: Scope) -> Plan:
    while isinstance(query, exp.Subquery):  # parentheses around the whole query
        refuse_extras(query, {"this"}, scope.source)
        query = query.this
    scope = with_tables(query, scope)
    match query:
        case exp.Select():
            return _bind_select(query, scope)
        case exp.SetOperation():
            return bind_set_operation(query, scope, nested)
        case _:
            refuse_query(query, scope.source)


def nested(query: exp.Expr, scope: Scope) -> Plan:
    """A query that another one reads."""
    plan = bind_query(query, scope)
    if any(isinstance(node, Group) and node.emit == "changes" for node in walk(plan)):
        raise refusal(
            Code.EMIT_CHANGES,
            "EMIT CHANGES is for the outermost query",
            span(query, scope.source),
            because="what reads it would take every change of a group for another row",
        )
    return plan


def declare_query(node: Declaration, scope: Scope) -> Derived:
    """CREATE VIEW, and CREATE STREAM … AS."""
    kind = node.args["kind"]
    if node.expression is None:
        raise refusal(
            Code.MISSING_CLAUSE,
            f"the {kind.lower()} `{node.name}` has no query",
            span(node.this, scope.source),
            help=f"CREATE {kind} {node.name} AS SELECT …",
        )
    for clause in ("columns", "constraints", "using", "location", "options", "on_violation"):
        if node.args.get(clause):
            raise refusal(
                Code.MISPLACED_CLAUSE,
                "a derived stream has its columns, promises and origin from its query",
                span_of(node.args[clause], scope.source, node),
            )
    return Derived(node.name, nested(node.expression, scope))


def with_tables(query: exp.Expr, scope: Scope) -> Scope:
    """The scope with the common table expressions of WITH."""
    clause = query.args.get("with_")
    if clause is None:
        return scope
    if clause.args.get("recursive"):
        raise refusal(Code.CLAUSE, "this version does not execute WITH RECURSIVE", span(clause, scope.source))
    seen: set[str] = set()
    for table in clause.expressions:
        if table.alias.lower() in seen:
            raise refusal(Code.DUPLICATE_ALIAS, f"WITH has `{table.alias}` twice", span(table, scope.source))
        seen.add(table.alias.lower())
        plan = nested(table.this, scope)
        scope = scope.having(Derived(table.alias, _relabelled(plan, table, scope.source)))
    return scope


def _relabelled(plan: Plan, table: exp.CTE, source: Source) -> Plan:
    """`WITH t (a, b) AS …` gives the columns new names."""
    names = table.alias_column_names
    if not names:
        return plan
    at = span(table.args["alias"], source)
    check_count(table.alias, names, [c.name for c in plan.columns], at)
    outputs = (Output(name, column(c.name, c.type)) for name, c in zip(names, plan.columns, strict=True))
    return Project(plan, tuple(outputs), at)


def _bind_select(select: exp.Select, scope: Scope) -> Plan:
    source = scope.source
    refuse_clauses(select, source)
    from_ = select.args.get("from_")
    if from_ is None:
        raise refusal(
            Code.NO_INPUT,
            "a query reads at least one stream or table",
            span(select, source),
            "this one has no FROM",
        )
    joins: list[exp.Join] = select.args.get("joins") or []
    joined = bind_from(from_.this, joins, scope, nested)
    reach = joined.reach
    conditions = list(joined.conditions)
    where = select.args.get("where")
    if where is not None:
        parts = conjuncts(scalar(where.this, reach, "WHERE"))
        conditions += [condition(part, source, "the condition of WHERE") for part in parts]
    hull = span(from_, source)
    last = span(joins[-1], source) if joins else None
    plan = assemble(joined.plans, tuple(conditions), hull.to(last) if hull and last else hull)
    items = _items(select, reach)
    _check_names(items, source)
    order = sort_keys(select, [item.name for item in items], lambda key: _item_of(key, items, reach), source)
    if select.args.get("group") or select.args.get("having") or any(_aggregates(item.tree) for item in items):
        plan, items = _grouped(select, plan, items, reach)
    elif select.args.get("emit"):
        raise refusal(
            Code.EMIT_CHANGES,
            "EMIT CHANGES is for queries with aggregates",
            span(select.args["emit"], source),
            because="the rows of any other query never change",
        )
    outputs = tuple(Output(item.name, typed(item.tree, source)) for item in items)
    plan = Project(plan, outputs, span(select, source))
    if distinct := select.args.get("distinct"):
        refuse_extras(distinct, set(), source)
        plan = Distinct(plan, span(select, source))
    return Sort(plan, order, span(select.args["order"], source)) if order else plan


def _item_of(key: exp.Expr, items: list[Item], reach: Reach) -> str | None:
    """The item of the select list that ORDER BY repeats."""
    tree = bound(key, reach)
    return next((item.name for item in items if item.tree == tree), None)


def _aggregates(tree: exp.Expr) -> bool:
    return tree.find(exp.AggFunc) is not None


def _items(select: exp.Select, reach: Reach) -> list[Item]:
    """The select list. An alias may be used by the items after it, as in Spark."""
    items: list[Item] = []
    aliases: dict[str, exp.Expr] = {}
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
        return value.name
    return generated(value)


def _check_names(items: list[Item], source: Source) -> None:
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


def _grouped(select: exp.Select, plan: Plan, items: list[Item], reach: Reach) -> tuple[Plan, list[Item]]:
    source = reach.source
    grouping = Grouping(source)
    aliases = {item.name.lower(): enclosed(item.tree) for item in items}
    group = select.args.get("group")
    for node in group.expressions if group is not None else ():
        grouping.key(_key(node, items, reach, aliases))
    over = [Item(item.name, grouping.over(item.tree), item.at) for item in items]
    having = select.args.get("having")
    predicate = None
    if having is not None:
        tree = grouping.over(bound(having.this, reach, aliases))
        predicate = condition(tree, source, "the condition of HAVING")
    emit: Literal["final", "changes"] = "changes" if select.args.get("emit") else "final"
    plan = grouping.plan(plan, emit, span(group, source) or span(select, source))
    if predicate is not None:
        plan = Filter(plan, predicate, predicate.span)
    return plan, over


def _key(node: exp.Expr, items: list[Item], reach: Reach, aliases: dict[str, exp.Expr]) -> exp.Expr:
    """A position, or an expression over the inputs and, for names they do not have, the select list."""
    index = position(node, len(items), reach.source)
    return bound(node, reach, aliases) if index is None else items[index].tree
