"""The safe trees that are enumerated are those that the check finds safe, among all trees that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from caesura.catalog import Traffic
from caesura.plan import Filter, Join, Plan, Project, Scan, Tree, walk
from caesura.planning.choose import RUNNERS_UP, choose
from caesura.planning.cost import CostModel
from caesura.planning.enumerate import SafeTrees
from caesura.planning.statistics import Statistics
from caesura.safety.join_graph import JoinGraph
from caesura.safety.predicates import conjuncts
from caesura.safety.states import judge
from caesura.safety.tree import arranged
from tests.property.joins import Instance, instances, planned

few = st.integers(3, 4)


def every_tree(inputs: tuple[int, ...]) -> Iterator[Tree]:
    """All trees over these inputs, each once."""
    if len(inputs) == 1:
        yield inputs[0]
    for parts in partitions(inputs):
        if len(parts) > 1:
            yield from product(*(list(every_tree(part)) for part in parts))


def partitions(inputs: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not inputs:
        yield ()
        return
    first, *others = inputs
    for chosen in product((False, True), repeat=len(others)):
        block = (first, *(each for each, taken in zip(others, chosen, strict=True) if taken))
        rest = tuple(each for each in inputs if each not in block)
        yield from ((block, *parts) for parts in partitions(rest))


def test_there_are_as_many_trees_as_schroeder_counted() -> None:
    assert [len(set(every_tree(tuple(range(n))))) for n in (2, 3, 4, 5)] == [1, 4, 26, 236]


def all_leave(plan: Plan) -> bool:
    """Whether every state is bounded because rows leave: a synopsis is made for the join as it stands."""
    return all(state.bounded and state.by != "synopsis" for state in judge(plan).states)


def crossing(plan: Plan) -> bool:
    """Whether some join has inputs that no condition connects."""
    return any(isinstance(node, Join) and not connected(node) for node in walk(plan))


def connected(join: Join) -> bool:
    """By conditions, or by columns that are equal."""
    graph = JoinGraph(join, tuple(() for _ in join.inputs))
    links = [set(several) for several in graph.inputs_of.values()]
    if join.residual is not None:
        links += ({join.owner(b.column), join.owner(b.by)} for b in graph.bounds if isinstance(b.by, str))
    found = {0}
    while grown := set().union(*(link for link in links if link & found)) - found:
        found |= grown
    return len(found) == len(join.inputs)


Rows: TypeAlias = list[dict[str, int | None]]


def rows_of(plan: Plan, given: dict[str, Rows]) -> Rows:
    """What a plan of this file gives, over the rows of its relations."""
    match plan:
        case Scan(alias=alias):
            return given[alias]
        case Filter(input=below, predicate=predicate):
            return [row for row in rows_of(below, given) if all(row[name] == 0 for name in predicate.columns)]
        case Project(input=below, outputs=outputs):
            return [{each.name: row[each.name] for each in outputs} for row in rows_of(below, given)]
        case Join(inputs=several, equalities=equalities, residual=residual):
            found = []
            for parts in product(*(rows_of(each, given) for each in several)):
                row = {name: value for part in parts for name, value in part.items()}
                equal = all(row[e.left] is not None and row[e.left] == row[e.right] for e in equalities)
                if equal and (residual is None or all(within(row, each) for each in conjuncts(residual.tree))):
                    found.append(row)
            return found
        case _:
            raise AssertionError(f"no {type(plan).__name__} here")


def within(row: dict[str, int | None], bound: exp.Expr) -> bool:
    """x <= y + c"""
    most = bound.expression
    one, other = row[bound.this.name], row[most.this.name]
    return one is not None and other is not None and one <= other + int(most.expression.name)


@settings(max_examples=60, deadline=None)
@given(few.flatmap(lambda n: instances(n, 2, bounded=True)), st.data())
def test_every_tree_has_the_rows_of_the_one_join(instance: Instance, data: st.DataObject) -> None:
    join, value = planned(instance), st.sampled_from([0, 1, None])
    given = {
        f"s{i}": data.draw(st.lists(st.fixed_dictionaries(dict.fromkeys(columns, value)), max_size=3))
        for i, columns in enumerate(instance.columns)
    }

    def bag(plan: Plan) -> Counter[tuple[int | None, ...]]:
        return Counter(tuple(row[column.name] for column in join.columns) for row in rows_of(plan, given))

    expected = bag(join)
    for tree in every_tree(tuple(range(len(join.inputs)))):
        plan = arranged(join, tree)
        assert plan.columns == join.columns
        assert bag(plan) == expected


def holds(join: Join) -> None:
    trees = list(every_tree(tuple(range(len(join.inputs)))))
    expected = set()
    for tree in trees:
        plan = arranged(join, tree)
        if all_leave(plan) and not crossing(plan):
            expected.add(tree)
    found = list(SafeTrees(join).trees())
    assert len(found) == len(set(found))
    if connected(join):
        assert set(found) == expected
    else:
        assert all(all_leave(arranged(join, tree)) for tree in found)
        assert expected <= set(found)


@st.composite
def punctuated(draw: st.DrawFn, inputs: int, *, bounded: bool = False) -> Instance:
    """Joins in which most columns of streams are punctuated: they have more than one safe tree."""
    plain = draw(instances(inputs, 2, bounded=bounded))
    schemes = tuple(
        () if i in plain.tables else tuple((c,) for c in each if draw(st.integers(0, 5)))
        for i, each in enumerate(plain.columns)
    )
    return replace(plain, schemes=schemes)


@settings(max_examples=40, deadline=None)
@given(few.flatmap(lambda n: instances(n, 2)))
def test_exactly_the_safe_trees_are_enumerated(instance: Instance) -> None:
    holds(planned(instance))


@settings(max_examples=40, deadline=None)
@given(few.flatmap(punctuated))
def test_also_where_many_trees_are_safe(instance: Instance) -> None:
    holds(planned(instance))


@settings(max_examples=8, deadline=None)
@given(punctuated(5))
def test_also_of_five_inputs(instance: Instance) -> None:
    holds(planned(instance))


@settings(max_examples=40, deadline=None)
@given(few.flatmap(lambda n: punctuated(n, bounded=True)))
def test_also_where_streams_are_ordered_and_conditions_are_bounds(instance: Instance) -> None:
    holds(planned(instance))


@settings(max_examples=40, deadline=None)
@given(few.flatmap(lambda n: punctuated(n, bounded=True)), st.booleans())
def test_no_safe_tree_is_cheaper_than_the_chosen_one(instance: Instance, known: bool) -> None:
    join = planned(instance)
    statistics = Statistics({"s0": Traffic(50.0), "s1": Traffic(2000.0, (("a", 10.0),))} if known else {})
    choice = choose(replace(join, demand=False), statistics)
    assert (choice.chosen is not None) == all_leave(join)
    if choice.chosen is not None:
        model = CostModel(SafeTrees(join), statistics)
        prices = sorted(model.price(model.cost(tree)) for tree in model.trees.trees())
        assert [each.price for each in (choice.chosen, *choice.runners_up)] == pytest.approx(
            prices[: RUNNERS_UP + 1]
        )
        assert arranged(join, choice.chosen.how.tree).columns == join.columns
