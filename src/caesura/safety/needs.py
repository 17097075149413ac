"""What the readers of each node need of its rows: which columns, and whether how often a row occurs.

A join may forget all else (THEORY section 8). What flows down is the projection list L of the paper, and whether
the query has bag or set semantics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.aggregates import FUNCTIONS
from caesura.expression import Expr, column
from caesura.plan import Aggregate, Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort, walk
from caesura.safety.bounds import joined_on
from caesura.sql.rewrite import rewrite


@dataclass(frozen=True)
class Argument:
    """An aggregate, and what it is taken over, in the columns of the node whose rows it needs."""

    aggregate: Aggregate
    over: tuple[Expr, ...]

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for each in self.over for name in each.columns)


@dataclass(frozen=True)
class Need:
    """`columns` are needed as they are, `aggregates` only as they go into a grouping above."""

    columns: frozenset[str] = frozenset()
    duplicates: bool = False
    aggregates: tuple[Argument, ...] = ()

    @property
    def exactly(self) -> Need:
        """The same for a node that does not pass aggregates down."""
        taken = frozenset(name for each in self.aggregates for name in each.columns)
        return Need(self.columns | taken, self.duplicates)

    def __or__(self, other: Need) -> Need:
        """What both readers need. Each aggregates for itself, so that they take the rows as they are."""
        one, another = self.exactly, other.exactly
        return Need(one.columns | another.columns, one.duplicates or another.duplicates)


def needs(roots: Iterable[Plan]) -> Mapping[Plan, Need]:
    """Of every node below these, whose own rows are all that the queries give."""
    tops = tuple(dict.fromkeys(roots))
    nodes = tuple(dict.fromkeys(node for root in tops for node in walk(root)))
    found = {root: Need(frozenset(c.name for c in root.columns), duplicates=True) for root in tops}
    for node in reversed(nodes):
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
    types = {each.name: each.type for each in group.input.columns}
    arguments = tuple(
        Argument(each, tuple(column(name, types[name]) for name in each.arguments)) for each in group.aggregates
    )
    counting = not all(FUNCTIONS[each.function].ignores_duplicates for each in group.aggregates)
    return Need(frozenset(group.keys), counting, arguments)


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
