"""A join as a tree of joins that has the same rows.

Every equality and every further condition goes to the lowest join that has all its columns. A tree may separate
inputs that are equal only by way of a third: with a = b and b = c the join of a and c is on a = c. So each join
of the tree compares all that the whole join says is equal (step 1 of THEORY section 4), and which columns are
equal in its rows depends on its inputs alone and not on its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from caesura.diagnostics import Span
from caesura.expression import column, columns_of
from caesura.plan import Equality, Join, Output, Plan, Project, Tree, inputs, walk, with_inputs
from caesura.safety.equality import EqualityClass, equality_classes, matching_classes
from caesura.safety.names import place
from caesura.safety.predicates import all_of, conditions


@dataclass(frozen=True)
class Arrangement:
    """How a join is executed: as which tree, and whether that makes partial results on demand."""

    tree: Tree
    demand: bool = False


@dataclass(frozen=True)
class Part:
    """A plan of rows joined from some inputs of a join."""

    inputs: frozenset[int]
    plan: Plan


def flat(join: Join) -> Tree:
    """All inputs in one join."""
    return tuple(range(len(join.inputs)))


def leaves(tree: Tree) -> tuple[int, ...]:
    return (tree,) if isinstance(tree, int) else tuple(leaf for below in tree for leaf in leaves(below))


def ordered(tree: Tree) -> Tree:
    """The one of equal trees in which the first inputs come first."""
    return tree if isinstance(tree, int) else tuple(sorted(map(ordered, tree), key=lambda each: min(leaves(each))))


def largest_first(tree: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """The order in which demand takes the children of a join: one of few inputs is soon asked by one of many."""
    return tuple(sorted(tree, key=lambda child: (-len(leaves(child)), min(leaves(child)))))


def arranged(join: Join, tree: Tree) -> Plan:
    """The join as that tree: the same rows, in the same columns. A join of three or more is left at that."""
    if ordered(tree) == flat(join):
        return replace(join, shape=flat(join), demand=None)
    found = _part(join, ordered(tree)).plan
    if found.columns == join.columns:
        return found
    outputs = (Output(each.name, column(each.name, each.type)) for each in join.columns)
    return Project(found, tuple(outputs), join.span)


def on_demand(join: Join, tree: Tree) -> Join:
    """The join as that tree with demand: it keeps of each input what one join keeps, and is judged as one."""
    return replace(join, shape=ordered(tree), demand=True)


def _part(join: Join, tree: Tree) -> Part:
    if isinstance(tree, int):
        return Part(frozenset((tree,)), join.inputs[tree])
    return Part(frozenset(leaves(tree)), joined(join, [_part(join, below) for below in tree]))


def joined(join: Join, parts: list[Part]) -> Join:
    """One join of the tree: what the whole join says of these parts and none of them says alone."""
    owner = _owners(join)
    part_of = {i: number for number, part in enumerate(parts) for i in part.inputs}

    def here(columns: Iterable[str]) -> bool:
        touched = {owner[each] for each in columns} or {0}
        below = any(len(part.inputs) > 1 and touched <= part.inputs for part in parts)
        return touched <= part_of.keys() and not below

    equalities = [each for each in join.equalities if here((each.left, each.right))]
    for each in matching_classes(join):
        equalities += _implied(each, parts, tuple(equalities))
    residual = [part for part in conditions(join) if here(columns_of(part))]
    plans = tuple(part.plan for part in parts)
    return Join(
        plans,
        tuple(equalities),
        all_of(residual),
        span=_hull(plans),
        shape=tuple(range(len(plans))) if len(plans) > 2 else None,
    )


@lru_cache(maxsize=1024)
def _owners(join: Join) -> dict[str, int]:
    return {each.name: i for i, plan in enumerate(join.inputs) for each in plan.columns}


def _implied(each: EqualityClass, parts: list[Part], stated: Iterable[Equality]) -> Iterator[Equality]:
    """What makes all columns of a class equal that these parts have, if more than one part has any."""
    part_of = {c.name: number for number, part in enumerate(parts) for c in part.plan.columns}
    present = [name for name in each.columns if name in part_of]
    across = next((name for name in present if part_of[name] != part_of[present[0]]), None)
    if across is None:
        return
    first = present[0]
    known = (inner.columns for part in parts for inner in equality_classes(part.plan))
    groups = [{name} for name in present]
    for alike in (*known, *((e.left, e.right) for e in stated)):
        met = [group for group in groups if not group.isdisjoint(alike)]
        groups = [group for group in groups if group not in met] + ([set().union(*met)] if met else [])
    for group in sorted(groups, key=lambda group: min(map(present.index, group))):
        if first not in group:  # an equality is between two parts
            names = sorted(group, key=present.index)
            elsewhere = next((name for name in names if part_of[name] != part_of[first]), None)
            yield Equality(across, names[0]) if elsewhere is None else Equality(first, elsewhere)


def _hull(plans: tuple[Plan, ...]) -> Span | None:
    spans = [span for plan in plans if (span := place(plan)) is not None]
    return reduce(Span.to, spans) if spans else None


def rearranged(plan: Plan, how: Callable[[Join], Arrangement | None]) -> Plan:
    """The plan with its joins as they are arranged; None leaves one as it is. Equal joins stay equal."""

    def change(old: Join, now: Join) -> Plan:
        match how(old):
            case None:
                return now
            case Arrangement(tree, demand=True):
                return on_demand(now, tree)
            case Arrangement(tree):
                return arranged(now, tree)

    return changed(plan, change)


def asked(join: Join) -> Arrangement | None:
    """What a hint asks for."""
    return None if join.shape is None else Arrangement(join.shape, join.demand is True)


def shaped(plan: Plan) -> Plan:
    """The plan with the joins that hints ask for."""
    return rearranged(plan, asked) if hinted(plan) else plan


def hinted(plan: Plan) -> bool:
    return any(isinstance(node, Join) and node.shape is not None for node in walk(plan))


def unhinted(plan: Plan) -> Plan:
    """The plan with every join as one."""
    return changed(plan, lambda old, now: replace(now, shape=None, demand=None))


def changed(plan: Plan, change: Callable[[Join, Join], Plan]) -> Plan:
    """Joins are changed from below: `change` is given each as it was, and over its changed inputs."""

    def of_join(old: Plan, now: Plan) -> Plan:
        return change(old, now) if isinstance(old, Join) and isinstance(now, Join) else now

    return rebuilt(plan, of_join)


def rebuilt(plan: Plan, change: Callable[[Plan, Plan], Plan]) -> Plan:
    """The same of all nodes."""
    done: dict[Plan, Plan] = {}
    for node in walk(plan):
        below = tuple(done[each] for each in inputs(node))
        done[node] = change(node, node if below == inputs(node) else with_inputs(node, below))
    return done[plan]
