"""What the readers of each node need of its rows: which columns, and whether how often a row occurs.

A join may forget all else (THEORY section 8). What flows down is the projection list L of the paper, and whether
the query has bag or set semantics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from caesura.aggregates import FUNCTIONS, MEAN, TOTAL
from caesura.expression import Expr, column
from caesura.plan import (
    Aggregate,
    Argument,
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Need,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    types_of,
    walk,
)
from caesura.safety.bounds import joined_on
from caesura.sql.datatypes import decimal
from caesura.sql.rewrite import rewrite

_DECIMALS = 6


@lru_cache(maxsize=1024)
def needs(plan: Plan) -> Mapping[Plan, Need]:
    """Of every node of a plan whose own rows are what a query gives."""
    found = {plan: Need(_all(plan), duplicates=True)}
    for node in reversed(tuple(walk(plan))):
        for below, need in _asked(node, found[node]):
            found[below] = found[below] | need if below in found else need
    return found


def _asked(node: Plan, need: Need) -> Iterable[tuple[Plan, Need]]:
    match node:
        case Scan():
            return ()
        case Filter(input=below, predicate=predicate):
            exactly = need.exactly
            return ((below, replace(exactly, columns=exactly.columns | predicate.columns)),)
        case Project(input=below):
            return ((below, _through(node, need)),)
        case Distinct(input=below):
            return ((below, Need(_all(below))),)
        case Group(input=below):
            return ((below, _grouped(node)),)
        case Rank(input=below):  # every column may decide where the order leaves rows equal, and every row counts
            return ((below, Need(_all(below), duplicates=True)),)
        case Session(input=below, time=time, keys=keys, aggregates=aggregates):
            arguments = (name for each in aggregates for name in each.arguments)
            return ((below, Need(frozenset((time, *keys, *arguments)), _counting(aggregates))),)
        case Frame(input=below):
            return ((below, Need(_all(below), duplicates=True)),)
        case Sort(input=below, keys=keys):
            exactly = need.exactly
            return ((below, replace(exactly, columns=exactly.columns.union(key.column for key in keys))),)
        case Merge(inputs=several) | Compare(inputs=several):
            return tuple((below, Need(_all(below), need.duplicates)) for below in several)
        case Join(inputs=several):
            asked = need.exactly.columns | joined_on(node)
            return tuple((below, Need(asked & _all(below), need.duplicates)) for below in several)


def _all(plan: Plan) -> frozenset[str]:
    return frozenset(each.name for each in plan.columns)


def _grouped(group: Group) -> Need:
    types = types_of(group.input)
    arguments = tuple(
        Argument(each, tuple(column(name, types[name]) for name in each.arguments)) for each in group.aggregates
    )
    need = Need(frozenset(group.keys), _counting(group.aggregates), arguments)
    return need if all(map(_multiplied, group.aggregates)) else need.exactly


def _counting(aggregates: Iterable[Aggregate]) -> bool:
    """Whether it matters how often a row occurs."""
    return not all(FUNCTIONS[each.function].ignores_duplicates for each in aggregates)


def _multiplied(aggregate: Aggregate) -> bool:
    """Whether it is known over a row that occurs often without repeating it: Spark rounds the product of a number
    with more than six decimals."""
    type = aggregate.result.type
    return FUNCTIONS[aggregate.function].keeps not in (TOTAL, MEAN) or (
        type.kind != "DECIMAL" or decimal(type)[1] <= _DECIMALS
    )


def _through(project: Project, need: Need) -> Need:
    outputs = {output.name: output.expr for output in project.outputs}
    columns = frozenset(name for output in need.columns for name in outputs[output].columns)
    arguments = tuple(
        Argument(each.aggregate, tuple(_substituted(expr, outputs) for expr in each.over))
        for each in need.aggregates
    )
    return Need(columns, need.duplicates, arguments)


def _substituted(expr: Expr, outputs: Mapping[str, Expr]) -> Expr:
    def change(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column):
            return None
        tree = outputs[node.name].tree
        return tree.copy() if isinstance(tree, exp.Column) else exp.Paren(this=tree.copy())

    return Expr(rewrite(expr.tree, change), expr.type, expr.span)
