"""Which columns of the inputs of a join somebody needs: the others are neither read nor kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from caesura import plan
from caesura.clocks import release
from caesura.safety.bounds import joined_on


@dataclass(frozen=True)
class Needed:
    """`by_readers`: of every node, the columns that one of its readers needs. `closed`: those on which
    punctuations are asked for, so that rows are told apart by them."""

    by_readers: Mapping[plan.Plan, frozenset[str]]
    closed: Callable[[plan.Plan], Collection[str]]

    def of(self, node: plan.Plan, below: plan.Plan) -> frozenset[str]:
        """What a node needs of an input so that its readers have what they need."""
        return (_asked(node, below, self.by_readers[node]) | {*self.closed(below)}) & _all(below)


def needed(
    nodes: tuple[plan.Plan, ...], roots: Iterable[plan.Plan], closed: Callable[[plan.Plan], Collection[str]]
) -> Needed:
    """Of all nodes, which come inputs first. A projection is computed as a whole, whoever needs a part of it."""
    found: dict[plan.Plan, frozenset[str]] = {root: _all(root) for root in roots}
    so_far = Needed(found, closed)
    for node in reversed(nodes):
        for below in plan.inputs(node):
            found[below] = found.get(below, frozenset()) | so_far.of(node, below)
    return so_far


def _asked(node: plan.Plan, below: plan.Plan, need: frozenset[str]) -> frozenset[str]:
    match node:
        case plan.Filter(predicate=predicate):
            return need | predicate.columns
        case plan.Project(outputs=outputs):
            return frozenset(name for output in outputs for name in output.expr.columns)
        case plan.Group(keys=keys, aggregates=aggregates):
            return frozenset((*keys, *(name for each in aggregates for name in each.arguments)))
        case plan.Join(kind="inner", need=None, demand=demand) if not demand:
            time = release(below)
            return need | joined_on(node) | (frozenset() if time is None else {time[0]})
        case _:
            return _all(below)


def _all(node: plan.Plan) -> frozenset[str]:
    return frozenset(column.name for column in node.columns)
