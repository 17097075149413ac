"""UNION, INTERSECT and EXCEPT to plan."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Span
from caesura.diagnostics.code import Code
from caesura.expression import column
from caesura.plan import Compare, Distinct, Merge, Output, Plan, Project, Sort
from caesura.sql.refusal import refusal
from caesura.sql.relations import Queries, Scope
from caesura.sql.sorting import sort_keys
from caesura.sql.spans import span
from caesura.sql.unsupported import refuse_extras


def bind_set_operation(query: exp.SetOperation, scope: Scope, queries: Queries) -> Plan:
    """Columns are matched by position, and called as in the first query."""
    refuse_extras(query, {"this", "expression", "distinct", "with_", "order"}, scope.source)
    at = span(query, scope.source)
    left = queries(query.this, scope)
    right = _aligned(left, queries(query.expression, scope), span(query.expression, scope.source))
    plan = _combined(query, left, right, at)
    order = sort_keys(query, [c.name for c in left.columns], lambda key: None, scope.source)
    return Sort(plan, order, span(query.args["order"], scope.source)) if order else plan


def _combined(query: exp.SetOperation, left: Plan, right: Plan, at: Span | None) -> Plan:
    distinct = query.args.get("distinct", True)
    match query:
        case exp.Union():
            before = left.inputs if isinstance(left, Merge) else (left,)  # a UNION ALL b UNION ALL c is one merge
            merged = Merge((*before, right), at)
            return Distinct(merged, at) if distinct else merged
        case exp.Intersect() | exp.Except() if distinct:
            return Distinct(
                Compare((left, right), "except" if isinstance(query, exp.Except) else "intersect", at), at
            )
        case _:
            raise refusal(
                Code.SET_OPERATION,
                f"{query.key.upper()} ALL is not supported",
                at,
                because="how often a row comes out would have to be taken back when it comes again",
                help=f"{query.key.upper()} without ALL",
            )


def _aligned(left: Plan, right: Plan, at: Span | None) -> Plan:
    """The right side under the names of the left."""
    if len(left.columns) != len(right.columns):
        raise refusal(
            Code.ALIAS_COUNT,
            f"the first query has {len(left.columns)} columns, this one {len(right.columns)}",
            at,
        )
    for number, (one, other) in enumerate(zip(left.columns, right.columns, strict=True), 1):
        if one.type != other.type:
            raise refusal(
                Code.INCOMPARABLE,
                f"column {number} is {one.type} in the first query and {other.type} in this one",
                at,
                help="CAST one of them to the type of the other",
            )
    if [c.name for c in left.columns] == [c.name for c in right.columns]:
        return right
    pairs = zip(left.columns, right.columns, strict=True)
    return Project(right, tuple(Output(one.name, column(other.name, other.type)) for one, other in pairs), at)
