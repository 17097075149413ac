"""FROM and WHERE: the rows that a SELECT is about.

`EXISTS (…)` and `x IN (SELECT …)` among the conditions are semi joins over what FROM and the other conditions
give, `NOT EXISTS (…)` is an anti join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr, column
from caesura.plan import Join, Output, Plan, Project
from caesura.sql.expressions import condition, conjuncts, enclosed, scalar, typed
from caesura.sql.hints import shaped
from caesura.sql.items import Item, bind_items
from caesura.sql.joins import assemble, join_of
from caesura.sql.names import Reach, bound_column
from caesura.sql.refusal import refusal
from caesura.sql.relations import Queries, Scope, bind_from
from caesura.sql.sliding import limits
from caesura.sql.spans import extent, span
from caesura.sql.unsupported import refuse_clauses, refuse_extras


@dataclass(frozen=True)
class Given:
    """What FROM and WHERE give; `correlated` are conditions that name columns of the query around."""

    plan: Plan
    reach: Reach
    correlated: tuple[Expr, ...]


@dataclass(frozen=True)
class Question:
    """A condition that asks whether another query has rows: any, or with these values in its columns."""

    at: exp.Expr
    query: exp.Expr
    kind: Literal["semi", "anti"]
    values: tuple[exp.Expr, ...] | None = None


def bind_where(select: exp.Select, scope: Scope, queries: Queries, outer: Reach | None = None) -> Given:
    """`outer` is what the query around reaches, if conditions may name it."""
    source = scope.source
    from_ = select.args.get("from_")
    if from_ is None:
        raise refusal(
            Code.NO_INPUT,
            "a query reads at least one stream or table",
            span(select, source),
            "this one has no FROM",
        )
    joins: list[exp.Join] = select.args.get("joins") or []
    joined = bind_from(from_.this, joins, scope, queries, outer.inputs if outer is not None else ())
    reach = joined.reach if outer is None else joined.reach.within(outer)
    own, correlated = list(joined.conditions), list[Expr]()
    questions: list[Question] = []
    where = select.args.get("where")
    for part in conjuncts(where.this) if where is not None else ():
        question = _question(part, source)
        if question is not None:
            questions.append(question)
            continue
        expr = condition(scalar(part, reach, "WHERE"), source, "the condition of WHERE")
        (own if expr.columns <= joined.reach.columns else correlated).append(expr)
    hull = span(from_, source)
    last = span(joins[-1], source) if joins else None
    plan = assemble(joined.plans, tuple(own), hull.to(last) if hull and last else hull)
    plan = shaped(plan, select.args.get("hint"), joined.reach.inputs, source)
    for question in questions:
        plan = _answered(question, plan, joined.reach, scope, queries)
    return Given(plan, joined.reach, tuple(correlated))


def unwrapped(query: exp.Expr, source: Source) -> exp.Expr:
    """Without parentheses around the whole query."""
    while isinstance(query, exp.Subquery):
        refuse_extras(query, {"this"}, source)
        query = query.this
    return query


def reading(query: exp.Expr) -> exp.Select:
    """`SELECT * FROM query`"""
    item = query.copy() if isinstance(query, exp.Values) else exp.Subquery(this=query.copy())
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=item))


def _question(tree: exp.Expr, source: Source) -> Question | None:
    asked, negated = tree, False
    while isinstance(asked, exp.Not):
        asked, negated = asked.this.unnest(), not negated
    match asked:
        case exp.Exists(this=exp.Query() | exp.Values() as query):
            return Question(tree, query, "anti" if negated else "semi")
        case (
            exp.In(this=left, args={"query": exp.Expr() as query})
            | exp.In(this=left, expressions=[exp.Values() as query])
        ):
            if negated:
                raise _never_certain(tree, source)
            row = left.unnest()
            return Question(tree, query, "semi", tuple(row.expressions if isinstance(row, exp.Tuple) else [row]))
        case _:
            return None


def _never_certain(tree: exp.Expr, source: Source) -> CaesuraError:
    return refusal(
        Code.SUBQUERY,
        "NOT IN with a query is not supported",
        span(tree, source),
        because="one NULL among its rows would take every row back, and on a stream it may still come",
        help="NOT EXISTS (SELECT 1 FROM … WHERE … = …), for which a NULL is equal to nothing",
    )


def _answered(question: Question, plan: Plan, reach: Reach, scope: Scope, queries: Queries) -> Join:
    """The rows of the plan to which the answer is yes."""
    source = scope.source
    query = unwrapped(question.query, source)
    select = query if isinstance(query, exp.Select) and _plain(query) else reading(query)
    refuse_clauses(select, source)
    if distinct := select.args.get("distinct"):  # how often a row is there does not matter
        refuse_extras(distinct, set(), source)
    given = bind_where(select, replace(scope, around=reach), queries, reach)
    items = bind_items(select, given.reach.within(reach))
    inner, conditions = given.plan, given.correlated
    if question.values is None:
        for item in items:
            typed(item.tree, source)  # its value does not matter, but it has to mean something
    else:
        inner, columns = _computed(inner, items, given.reach, source)
        conditions += _equal(question, question.values, columns, reach)
    conditions += tuple(limits(reach.inputs, given.reach.inputs, source))
    return join_of(question.kind, (plan, inner), conditions, span(question.at, source))


def _plain(select: exp.Select) -> bool:
    """Whether its rows are those that FROM and WHERE give, so that conditions may also name the query around."""
    clauses = ("with_", "group", "having", "order", "emit", "qualify")
    return not any(select.args.get(clause) for clause in clauses) and not any(
        node.find(exp.AggFunc, exp.Window) for node in select.expressions
    )


def _computed(plan: Plan, items: list[Item], reach: Reach, source: Source) -> tuple[Plan, list[exp.Expr]]:
    """The values of the select list; what has to be computed from rows of the plan becomes a column of it."""
    outputs = [Output(c.name, column(c.name, c.type)) for c in plan.columns]
    values: list[exp.Expr] = []
    for number, item in enumerate(items, 1):
        expr = typed(item.tree, source)
        if expr.column is not None or not expr.columns <= reach.columns:
            values.append(item.tree)
            continue
        outputs.append(Output(f"value_{number}", expr))
        values.append(bound_column(f"value_{number}", expr.type, item.at))
    return (Project(plan, tuple(outputs), plan.span) if len(outputs) > len(plan.columns) else plan), values


def _equal(
    question: Question, values: tuple[exp.Expr, ...], columns: list[exp.Expr], reach: Reach
) -> tuple[Expr, ...]:
    source = reach.source
    if len(values) != len(columns):
        raise refusal(
            Code.ALIAS_COUNT,
            f"the number of values before IN is {len(values)}, of columns in the query {len(columns)}",
            span(question.at, source),
        )
    conditions: list[Expr] = []
    for value, found in zip(values, columns, strict=True):
        equal = exp.EQ(this=enclosed(scalar(value, reach, "WHERE")), expression=enclosed(found))
        equal.meta["span"] = extent(question.at)
        conditions.append(condition(equal, source, "the condition of WHERE"))
    return tuple(conditions)
