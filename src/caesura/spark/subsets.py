"""Sets of which a grouping keeps one part each.

COUNT(DISTINCT x) beside COUNT(DISTINCT x) FILTER (WHERE …): the values of all rows are those of the rows that one
of the filters takes, and the others. So of all rows only the others are kept, and no value is put into two sets.
"""

from __future__ import annotations

from sqlglot import exp

from caesura.aggregates import FUNCTIONS, SET
from caesura.plan import Aggregate, Group, Project


def beyond(group: Group) -> dict[Aggregate, tuple[str, ...]]:
    """Aggregates that keep a set → the columns of other such aggregates that have their value or NULL."""
    if not isinstance(group.input, Project):
        return {}
    given = {output.name: output.expr.tree for output in group.input.outputs}
    sets = {
        each: given[each.arguments[0]]
        for each in group.aggregates
        if FUNCTIONS[each.function].keeps == SET and len(each.arguments) == 1
    }
    found = {}
    for each, value in sets.items():
        if _some_of(value) in sets.values():  # a part of another, which reads it whole
            continue
        parts = dict.fromkeys(other.arguments[0] for other, tree in sets.items() if _some_of(tree) == value)
        if parts:
            found[each] = tuple(parts)
    return found


def _some_of(tree: exp.Expr) -> exp.Expr | None:
    """The value, if it is that or NULL."""
    match tree:
        case exp.Case(args={"ifs": [exp.If(args={"true": value})]} as args):
            return value if args.get("this") is None and args.get("default") is None else None
        case _:
            return None
