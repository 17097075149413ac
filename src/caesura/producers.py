"""Which join makes a column: demand can go down to it from a join that compares the column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from caesura.plan import Distinct, Filter, Group, Join, Plan, Project


@dataclass(frozen=True)
class Source:
    """Where a column comes from: `name` is a column of an input of an inner join. `groups` were on the way, each
    with its own name for the column; `depth`: how many inner joins were."""

    join: Join
    input: int
    name: str
    groups: tuple[tuple[Group, str], ...]
    depth: int


def demanding(join: Join) -> bool:
    """Whether demand can go through some input of a join to another join below it."""
    return next(asked_of(join), None) is not None


def asked_of(consumer: Join) -> Iterator[tuple[Source, int, str]]:
    """For each comparison of the consumer, whence its one column comes, and the input and column it is with."""
    if consumer.kind != "inner":
        return
    for each in consumer.equalities:
        for mine, theirs in ((each.left, each.right), (each.right, each.left)):
            below = consumer.inputs[consumer.owner(mine)]
            if not isinstance(below, Join):  # else it is the consumer's own tree
                yield from ((source, consumer.owner(theirs), theirs) for source in sources(below, mine))


def sources(plan: Plan, name: str, groups: tuple[tuple[Group, str], ...] = (), depth: int = 0) -> Iterator[Source]:
    """The nearest inner join, and those further down."""
    match plan:
        case Filter(input=below) | Distinct(input=below):
            yield from sources(below, name, groups, depth)
        case Project(input=below, outputs=outputs):
            origin = next(output.expr.column for output in outputs if output.name == name)
            if origin is not None:
                yield from sources(below, origin, groups, depth)
        case Group(input=below, keys=keys, emit="final") if name in keys:
            yield from sources(below, name, (*groups, (plan, name)), depth)
        case Join(kind="inner"):
            i = plan.owner(name)
            yield Source(plan, i, name, groups, depth)
            yield from sources(plan.inputs[i], name, groups, depth + 1)
        case _:
            return
