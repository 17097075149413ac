"""The transformed punctuation graph (Li et al., definitions 11 to 13 and theorem 4), for speed.

Nodes are sets of streams, at first one each. An edge leads from C to D if the columns of C, with the constants
and the tables, pin all attributes of some scheme of an input in D. Every scheme counts, of one attribute or of
several, and from every node: definition 11 adds the edges of larger schemes only from merged nodes, and would miss
a scheme whose attributes all join with one input. Strongly connected nodes become one, until nothing merges.

A row of any input in C is protected from all of C, by induction over the merges, so that all inputs of a component
reach the same. All states are purgeable iff one node is left: where several are left the graph has no cycle, so
some node has no edge that leads out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from caesura.safety.join_graph import JoinGraph
from caesura.safety.reach import Reach

_EVERYONE = -1
"""A node between all others and the inputs that need no pin at all: every node leads to it, it leads to them."""


@dataclass(frozen=True)
class Transformed:
    """The nodes that are left, and the rounds of merging that led there, the first with one node per stream."""

    rounds: tuple[tuple[frozenset[int], ...], ...]

    @property
    def components(self) -> tuple[frozenset[int], ...]:
        return self.rounds[-1]


def reaches(graph: JoinGraph) -> tuple[Reach | None, ...]:
    """One for each input; None for a static input, whose rows simply stay."""
    values = graph.of_values
    complete, by_values = purgeable(graph), purgeable(values) if values != graph else None
    return tuple(
        Reach(graph, i, i in complete, i in (complete if by_values is None else by_values))
        if i in graph.streams
        else None
        for i in graph.inputs
    )


def purgeable(graph: JoinGraph) -> frozenset[int]:
    """The streams that reach every other."""
    components = transformed(graph).components
    if len(components) <= 1:
        return frozenset(graph.streams)
    every = len(graph.streams)
    return frozenset(i for each in components if len(graph.closure(each).reached) == every for i in each)


def transformed(graph: JoinGraph) -> Transformed:
    node_of = {i: i for i in graph.streams}
    rounds = [_sets(node_of)]
    while True:
        merged: dict[int, int] = {}
        for group in _strong(_edges(graph, node_of)):
            if nodes := group - {_EVERYONE}:
                merged |= dict.fromkeys(nodes, min(nodes))
        if len(set(merged.values())) == len(rounds[-1]):
            return Transformed(tuple(rounds))
        node_of = {i: merged[node] for i, node in node_of.items()}
        rounds.append(_sets(node_of))


def _sets(node_of: Mapping[int, int]) -> tuple[frozenset[int], ...]:
    found: dict[int, set[int]] = {}
    for i, node in node_of.items():
        found.setdefault(node, set()).add(i)
    return tuple(frozenset(each) for each in found.values())


def _edges(graph: JoinGraph, node_of: Mapping[int, int]) -> dict[int, set[int]]:
    pinning: dict[int, set[int]] = {}
    for i, node in node_of.items():
        for each in graph.members[i]:
            pinning.setdefault(each, set()).add(node)
    edges: dict[int, set[int]] = {node: {_EVERYONE} for node in node_of.values()}
    edges[_EVERYONE] = set()
    for offer in graph.offers:
        if offer.input not in node_of:
            continue
        needs = offer.needs - graph.known
        if not offer.lacking or not needs or (offer.scheme.ordered and needs != offer.needs):
            sources = {_EVERYONE}
        elif offer.scheme.ordered:
            sources = set().union(*(pinning.get(each, ()) for each in needs))
        else:
            sources = set.intersection(*(pinning.get(each, set()) for each in needs))
        for node in sources:
            edges[node].add(node_of[offer.input])
    return edges


def _strong(edges: Mapping[int, set[int]]) -> Iterator[set[int]]:
    """The strongly connected components (Tarjan), without recursion: a chain may have thousands of inputs."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()

    def enter(node: int) -> tuple[int, Iterator[int]]:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        return node, iter(edges[node])

    for root in edges:
        path = [] if root in index else [enter(root)]
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    path.append(enter(target))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    group: set[int] = set()
                    while node not in group:
                        group.add(stack.pop())
                    on_stack -= group
                    yield group
