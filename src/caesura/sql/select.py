"""SELECT to plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import column
from caesura.plan import Distinct, Filter, Group, Output, Plan, Project, Sort, walk
from caesura.sql.expressions import bound, condition, enclosed, typed
from caesura.sql.framing import framing
from caesura.sql.grouping import Grouping
from caesura.sql.items import Item, bind_items, check_names
from caesura.sql.names import Reach, check_count
from caesura.sql.over import RANKS, Columns, Over, without_over
from caesura.sql.ranking import ranking
from caesura.sql.refusal import refusal
from caesura.sql.relations import Derived, Scope
from caesura.sql.sessions import Sessions, refuse_ungrouped
from caesura.sql.setops import bind_set_operation
from caesura.sql.sorting import position, sort_keys
from caesura.sql.spans import span
from caesura.sql.syntax import Declaration
from caesura.sql.unsupported import refuse_clauses, refuse_extras, refuse_query, span_of
from caesura.sql.where import bind_where, reading, unwrapped
from caesura.sql.windows import Buckets, key_of, without_calls


@dataclass(frozen=True)
class Asked:
    """What a SELECT asks for, as trees over what it reads; then, if it groups, over the groups."""

    items: list[Item]
    overs: tuple[Over, ...]
    qualify: exp.Expr | None

    @property
    def trees(self) -> list[exp.Expr]:
        """Without what calls with OVER are computed from."""
        return [*(item.tree for item in self.items), *([self.qualify] if self.qualify is not None else [])]

    @property
    def aggregates(self) -> bool:
        several = (*self.trees, *(tree for over in self.overs for tree in over.trees))
        return any(tree.find(exp.AggFunc) for tree in several)

    def mapped(self, change: Callable[[exp.Expr], exp.Expr]) -> Asked:
        return Asked(
            [replace(item, tree=change(item.tree)) for item in self.items],
            tuple(over.mapped(change) for over in self.overs),
            None if self.qualify is None else change(self.qualify),
        )


def bind_query(query: exp.Expr, scope: Scope) -> Plan:
    query = unwrapped(query, scope.source)
    scope = with_tables(query, scope)
    match query:
        case exp.Select():
            return _bind_select(query, scope)
        case exp.Values():
            return _bind_select(reading(query), scope)
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
    given = bind_where(select, scope, nested)
    plan, reach = given.plan, given.reach
    select, buckets = without_calls(select, reach)
    select, overs, columns = without_over(select, reach, buckets.names)
    meant = {**buckets.names, **columns}
    items = bind_items(select, reach, meant)
    check_names(items, source)
    order = sort_keys(select, [item.name for item in items], lambda key: _item_of(key, items, reach), source)
    asked = Asked(items, overs, _qualify(select, items, reach, meant))
    if select.args.get("group") or select.args.get("having") or asked.aggregates:
        plan, asked = _grouped(select, plan, asked, reach, buckets)
    elif buckets.sessions is not None:
        refuse_ungrouped(buckets.sessions, source)
    elif select.args.get("emit"):
        raise refusal(
            Code.EMIT_CHANGES,
            "EMIT CHANGES is for queries with aggregates",
            span(select.args["emit"], source),
            because="the rows of any other query never change",
        )
    plan = _computed_over(plan, asked, source)
    outputs = tuple(Output(item.name, typed(item.tree, source)) for item in asked.items)
    plan = Project(plan, outputs, span(select, source))
    if distinct := select.args.get("distinct"):
        refuse_extras(distinct, set(), source)
        plan = Distinct(plan, span(select, source))
    return Sort(plan, order, span(select.args["order"], source)) if order else plan


def _item_of(key: exp.Expr, items: list[Item], reach: Reach) -> str | None:
    """The item of the select list that ORDER BY repeats."""
    tree = bound(key, reach)
    return next((item.name for item in items if item.tree == tree), None)


def _qualify(
    select: exp.Select, items: list[Item], reach: Reach, names: Mapping[str, exp.Expr]
) -> exp.Expr | None:
    clause = select.args.get("qualify")
    return None if clause is None else bound(clause.this, reach, {**names, **_aliases(items)})


def _aliases(items: list[Item]) -> dict[str, exp.Expr]:
    return {item.name.lower(): enclosed(item.tree) for item in items}


def _computed_over(plan: Plan, asked: Asked, source: Source) -> Plan:
    """Nodes for the calls with OVER, each over the one before, and over them the condition of QUALIFY."""
    if not asked.overs:
        return plan
    columns = Columns(source)
    ranked = [over for over in asked.overs if type(over.function) in RANKS]
    framed = [over for over in asked.overs if over not in ranked]
    nodes = [*framing(framed, columns, source), *(ranking(over, columns, source) for over in ranked)]
    plan = columns.below(plan, asked.trees)
    for node in nodes:
        plan = node(plan)
    if asked.qualify is None:
        return plan
    predicate = condition(asked.qualify, source, "the condition of QUALIFY")
    return Filter(plan, predicate, predicate.span)


def _grouped(select: exp.Select, plan: Plan, asked: Asked, reach: Reach, buckets: Buckets) -> tuple[Plan, Asked]:
    source, items = reach.source, asked.items
    if asked.overs and select.args.get("emit"):
        raise refusal(
            Code.EMIT_CHANGES,
            "EMIT CHANGES is not for queries with OVER",
            span(select.args["emit"], source),
            because="every change of a group would be another row to them",
        )
    grouping = Grouping(source, frozenset(over.result.name for over in asked.overs))
    aliases = {**_aliases(items), **buckets.names}
    group = select.args.get("group")
    for node in group.expressions if group is not None else ():
        key = _key(node, items, reach, aliases)
        if buckets.sessions is not None and key.unnest() == buckets.sessions.window:
            grouping.sessions = buckets.sessions
        else:
            grouping.key(key_of(key))
    if buckets.sessions is not None:
        _check_sessions(buckets.sessions, grouping, select, source)
    over = asked.mapped(grouping.over)
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


def _check_sessions(sessions: Sessions, grouping: Grouping, select: exp.Select, source: Source) -> None:
    if grouping.sessions is None:
        refuse_ungrouped(sessions, source)
    if emit := select.args.get("emit"):
        raise refusal(
            Code.EMIT_CHANGES,
            "EMIT CHANGES is not for sessions",
            span(emit, source),
            because="two sessions that a row joins become one, so that a row of each would have to be taken back",
        )


def _key(node: exp.Expr, items: list[Item], reach: Reach, aliases: dict[str, exp.Expr]) -> exp.Expr:
    """A position, or an expression over the inputs and, for names they do not have, the select list."""
    index = position(node, len(items), reach.source)
    return bound(node, reach, aliases) if index is None else items[index].tree
