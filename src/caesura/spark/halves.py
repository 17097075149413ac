"""From outer, semi and anti joins, INTERSECT and EXCEPT to the one operator that runs them."""

from __future__ import annotations

from dataclasses import replace

from caesura import plan
from caesura.expression import Expr
from caesura.operators.chain import Hop
from caesura.operators.closed import in_order
from caesura.operators.pair import Half, Pair
from caesura.operators.rows import quote
from caesura.safety.join_graph import JoinGraph
from caesura.spark.clock import residual
from caesura.spark.pins import able, alike, hop


def paired(graph: JoinGraph, names: list[str]) -> Pair:
    """`names` are those of the inputs, for their state."""
    join = graph.join
    others = residual(join)
    conditions = [f"{quote(each.left)} = {quote(each.right)}" for each in join.equalities]
    conditions += (f"({part.sql})" for part in others)
    one, other = (_half(graph, i, names[i], others) for i in (0, 1))
    return Pair(
        (one, other), " AND ".join(conditions) or "true", matches=not join.halved, semi=join.kind == "semi"
    )


def _half(graph: JoinGraph, i: int, name: str, others: list[Expr]) -> Half:
    join, below = graph.join, graph.join.inputs[i]
    mine = {column.name for column in below.columns}
    closing = hop(graph, 1 - i, [column.name for column in below.columns])
    alone = (f"({part.sql})" for part in others if part.columns <= mine)
    same, asked = alike(join, below), (part.columns for part in others)
    decides = join.compared.union(closing.asks, *same, *asked) & mine or mine
    needed = decides if join.halved and i == 1 else mine
    comes_out = i in join.lonely or (join.halved and i == 0)
    return Half(
        name=name,
        columns=tuple(column for column in below.columns if column.name in needed),
        deciding=in_order((column.name for column in below.columns), decides),
        able=" AND ".join((*able(join, below), *alone)) or "true",
        closing=closing,
        lonely=i in join.lonely,
        finite=plan.endless(join) and not plan.endless(below) and not comes_out,
        remembers=comes_out,
    )


def compared(node: plan.Compare, names: list[str]) -> Pair:
    """A semi or anti join on all columns, in which NULL is the same as NULL."""
    second = {column.name: f"second {column.name}" for column in node.columns}
    first = Half(
        name=names[0],
        columns=node.columns,
        deciding=tuple(second),
        able="true",
        closing=Hop(1, {other: name for name, other in second.items()}),
        lonely=node.kind == "except",
        finite=False,
        remembers=True,
    )
    other = Half(
        name=names[1],
        columns=tuple(replace(column, name=second[column.name]) for column in node.columns),
        deciding=tuple(second.values()),
        able="true",
        closing=Hop(0, second),
        lonely=False,
        finite=plan.endless(node) and not plan.endless(node.inputs[1]),
        remembers=False,
    )
    same = " AND ".join(f"{quote(name)} <=> {quote(other)}" for name, other in second.items())
    return Pair((first, other), same, matches=False, semi=node.kind == "intersect", second=second)
