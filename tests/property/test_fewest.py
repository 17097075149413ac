"""The fewest schemes of a join: all that can be purged still can, and with any one less something could not."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import pytest
from hypothesis import given, settings

from caesura.safety import fewest as module
from caesura.safety.components import purgeable
from caesura.safety.fewest import fewest
from caesura.safety.join_graph import JoinGraph
from tests.property.joins import Instance, graph_of, instances


def without(graph: JoinGraph, left_out: set[int]) -> JoinGraph:
    """Without these of its value schemes, by number."""
    number = iter(range(1000))
    return JoinGraph(
        graph.join,
        tuple(tuple(s for s in several if s.ordered or next(number) not in left_out) for several in graph.schemes),
    )


def size(graph: JoinGraph) -> int:
    return sum(not scheme.ordered for several in graph.schemes for scheme in several)


@pytest.mark.parametrize("exact", [module.EXACT, 0], ids=["exact", "one after another"])
@settings(max_examples=150)
@given(instance=instances(4, 2, bounded=True))
def test_they_suffice_and_none_is_idle(exact: int, instance: Instance) -> None:
    graph = graph_of(instance)
    with patch.object(module, "EXACT", exact):
        fewer = fewest(graph)
    assert purgeable(fewer) == purgeable(graph)
    assert all(set(kept) <= set(all_) for kept, all_ in zip(fewer.schemes, graph.schemes, strict=True))
    assert all(purgeable(without(fewer, {i})) != purgeable(graph) for i in range(size(fewer)))


@settings(max_examples=100)
@given(instance=instances(3, 2))
def test_no_others_are_fewer(instance: Instance) -> None:
    graph = graph_of(instance)
    every = range(size(graph))
    enough = (
        size(graph) - count
        for count in reversed(every)
        for left_out in combinations(every, count)
        if purgeable(without(graph, {*left_out})) == purgeable(graph)
    )
    assert size(fewest(graph)) <= min(enough, default=size(graph))
