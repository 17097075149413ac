"""Joins that several queries ask for alike are one join, of which each takes what it asked for.

Alike are inner joins of the same streams and tables on the same columns, whatever these are called, and whatever
WHERE says of single inputs: the one join reads the rows that one of them reads. So its state is at most that of
all, and a slice joins once. It has to be as safe as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.catalog import Interval, Relation
from caesura.expression import Expr, column
from caesura.plan import Filter, Join, Output, Pipeline, Plan, Project, Scan, walk
from caesura.planning.choose import all_leave
from caesura.safety.tree import changed
from caesura.types import BOOLEAN


@dataclass(frozen=True)
class _Form:
    """What joins have in common that are alike: the inputs, and the equal columns by input and name."""

    inputs: tuple[tuple[Relation, Interval | None, int], ...]
    equalities: frozenset[frozenset[tuple[int, str]]]


def shared(pipeline: Pipeline) -> Pipeline:
    """The pipeline with one join in the place of those that are alike."""
    alike: dict[_Form, list[Join]] = {}
    for join in dict.fromkeys(node for query in pipeline.queries for node in walk(query.plan)):
        if isinstance(join, Join) and _plain(join):
            alike.setdefault(_form(join), []).append(join)
    for several in alike.values():
        if len(several) > 1:
            pipeline = _sharing(pipeline, several)
    return pipeline


def _plain(join: Join) -> bool:
    """Whether it is nothing but a join of what comes, in which no hint has a say."""
    scans = (each.input if isinstance(each, Filter) else each for each in join.inputs)
    alone = join.residual is None and join.need is None and join.shape is None and not join.demand
    return join.kind == "inner" and alone and all(isinstance(each, Scan) for each in scans)


def _scans(join: Join) -> tuple[Scan, ...]:
    below = (each.input if isinstance(each, Filter) else each for each in join.inputs)
    return tuple(each for each in below if isinstance(each, Scan))


def _form(join: Join) -> _Form:
    scans = _scans(join)
    places = {f"{scan.alias}.{c.name}": (i, c.name) for i, scan in enumerate(scans) for c in scan.relation.columns}
    return _Form(
        tuple((scan.relation, scan.window, scan.since) for scan in scans),
        frozenset(frozenset((places[each.left], places[each.right])) for each in join.equalities),
    )


def _sharing(pipeline: Pipeline, several: list[Join]) -> Pipeline:
    """If every query that has one of them is safe with all of them as one; otherwise as it was."""
    taken = _taken(several)
    plans = {query: changed(query.plan, lambda old, now: taken.get(old, now)) for query in pipeline.queries}
    if not all(all_leave(query.plan) and all_leave(plan) for query, plan in plans.items() if plan != query.plan):
        return pipeline
    return replace(pipeline, queries=tuple(replace(query, plan=plan) for query, plan in plans.items()))


def _taken(several: list[Join]) -> dict[Join, Plan]:
    """What each join takes of the one join, which has the names of the first."""
    first = several[0]
    names = {join: _names(join, first) for join in several}
    given = [[_filter(join, i, names[join]) for join in several] for i, _ in enumerate(first.inputs)]
    inputs = tuple(_reading(scan, each) for scan, each in zip(_scans(first), given, strict=True))
    whole = replace(first, inputs=inputs)
    taken: dict[Join, Plan] = {}
    for j, join in enumerate(several):
        plan: Plan = whole
        for i, below in enumerate(inputs):
            mine = given[i][j]
            if mine is not None and not (isinstance(below, Filter) and below.predicate == mine):
                plan = Filter(plan, mine, join.inputs[i].span)
        taken[join] = _renamed(plan, join, names[join])
    return taken


def _names(join: Join, first: Join) -> dict[str, str]:
    """The columns of a join → those of the first."""
    return {mine.name: its.name for mine, its in zip(join.columns, first.columns, strict=True)}


def _filter(join: Join, i: int, names: Mapping[str, str]) -> Expr | None:
    """What WHERE says of an input, in the names of the first join."""
    below = join.inputs[i]
    if not isinstance(below, Filter):
        return None
    tree = below.predicate.tree.copy()
    for each in list(tree.find_all(exp.Column)):
        each.set("this", exp.to_identifier(names[each.name], quoted=True))
    return replace(below.predicate, tree=tree)


def _reading(scan: Scan, several: Iterable[Expr | None]) -> Plan:
    """The rows that one of them reads."""
    conditions = list(dict.fromkeys(several))
    given = [each for each in conditions if each is not None]
    if len(given) < len(conditions):
        return scan
    if len(given) == 1:
        return Filter(scan, given[0])
    return Filter(scan, Expr(exp.or_(*(each.tree for each in given)), BOOLEAN))


def _renamed(plan: Plan, join: Join, names: Mapping[str, str]) -> Plan:
    if all(mine == its for mine, its in names.items()):
        return plan
    outputs = (Output(c.name, column(names[c.name], c.type)) for c in join.columns)
    return Project(plan, tuple(outputs), join.span)
