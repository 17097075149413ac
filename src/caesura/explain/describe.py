"""A plan as text: one line per node, inputs indented below the node that reads them."""

from __future__ import annotations

from caesura.catalog import Interval, Values
from caesura.expression import Expr
from caesura.plan import (
    Aggregate,
    Compare,
    Distinct,
    Filter,
    Frame,
    Framed,
    Group,
    Join,
    Merge,
    Output,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    SortKey,
    Tree,
    inputs,
)

_ROWS = 4
"""So many rows of VALUES are written out."""


def describe(plan: Plan) -> str:
    return "\n".join(_lines(plan, ""))


def _lines(plan: Plan, indent: str) -> list[str]:
    below = [line for one in inputs(plan) for line in _lines(one, indent + "  ")]
    return [indent + line(plan), *below]


def line(plan: Plan) -> str:
    """One node, without its inputs."""
    match plan:
        case Scan(relation=Values(rows=rows), alias=alias):
            return f"values {', '.join(map(_row, rows[:_ROWS]))}{', …' if len(rows) > _ROWS else ''} as {alias}"
        case Scan(relation=relation, alias=alias, window=window):
            kind = type(relation).__name__.lower()
            return f"scan {kind} {relation.name} as {alias}" + (f" window {window.sql}" if window else "")
        case Filter(predicate=predicate):
            return f"filter {predicate.sql}"
        case Project(outputs=outputs):
            return f"project {', '.join(map(_output, outputs))}"
        case Join(equalities=equalities, residual=residual, kind=kind, shape=shape):
            on = [f"`{one.left}` = `{one.right}`" for one in equalities]
            word = "join" if kind == "inner" else f"{kind} join"
            where = f" where {residual.sql}" if residual else ""
            return f"{word} on {', '.join(on) or 'nothing'}{where}{f' as {_tree(shape)}' if shape else ''}"
        case Group(keys=keys, aggregates=aggregates, emit=emit):
            by = ", ".join(f"`{key}`" for key in keys) or "nothing"
            changes = ", emit changes" if emit == "changes" else ""
            return f"group by {by}" + "".join(f", {_aggregate(one)}" for one in aggregates) + changes
        case Session(time=time, gap=gap, keys=keys, aggregates=aggregates):
            by = ", ".join(f"`{key}`" for key in (time, *keys))
            return f"sessions by {by} with gaps of {gap.sql}" + "".join(
                f", {_aggregate(one)}" for one in aggregates
            )
        case Distinct():
            return "distinct"
        case Sort(keys=keys):
            return f"sort by {', '.join(map(_sort_key, keys))}"
        case Frame():
            return _frame(plan)
        case Rank():
            return _rank(plan)
        case Merge():
            return "union all"
        case Compare(kind=kind):
            return kind


def _tree(tree: Tree) -> str:
    """Inputs are counted from one."""
    return str(tree + 1) if isinstance(tree, int) else f"({', '.join(map(_tree, tree))})"


def _row(row: tuple[Expr, ...]) -> str:
    return f"({', '.join(cell.sql for cell in row)})"


def _output(output: Output) -> str:
    expr = output.expr
    return f"`{output.name}`" if expr.column == output.name else f"`{output.name}`: {expr.sql}"


def _aggregate(aggregate: Aggregate) -> str:
    name, _, distinct = aggregate.function.partition(" ")
    arguments = ", ".join([*(f"`{each}`" for each in aggregate.arguments), *map(str, aggregate.percentages)])
    return f"`{aggregate.result.name}`: {name}({f'{distinct} ' if distinct else ''}{arguments or '*'})"


def _rank(rank: Rank) -> str:
    limit = "" if rank.limit is None else f", at most {rank.limit}"
    return f"`{rank.result.name}`: {rank.function.lower()} over {_over(rank)}{limit}"


def _frame(frame: Frame) -> str:
    return f"over {_over(frame)}" + "".join(f", {_framed(each)}" for each in frame.functions)


def _over(node: Rank | Frame) -> str:
    by = f"partition by {', '.join(f'`{name}`' for name in node.partition)} " if node.partition else ""
    return f"{by}order by {', '.join(map(_sort_key, node.order))}"


def _framed(each: Framed) -> str:
    arguments = ", ".join(f"`{name}`" for name in each.arguments) or "*"
    far = "unbounded" if each.preceding is None else each.preceding
    frame = f"{each.unit} {far.sql if isinstance(far, Interval) else far} preceding"
    nulls = " ignore nulls" if each.ignore_nulls else ""
    return f"`{each.result.name}`: {each.function}({arguments}){nulls} {frame}"


def _sort_key(key: SortKey) -> str:
    usual = key.nulls_first is not key.descending
    nulls = "" if usual else f" nulls {'first' if key.nulls_first else 'last'}"
    return f"`{key.column}`{' desc' if key.descending else ''}{nulls}"
