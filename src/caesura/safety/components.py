"""The transformed punctuation graph of THEORY section 4 (Li et al., theorem 4): are all states of a join purgeable?

Nodes are sets of inputs, at first one stream each. An edge leads from C to D if the columns of C pin all attributes
of some scheme of an input in D: every scheme counts, of one attribute or of several, from one input or from a merged
node. Strongly connected nodes become one, until nothing merges. All states are purgeable iff one node is left.

Why: a row of any input in C is protected from all of C, by induction over the merges, so an edge from C is a hop of
`reach` for each of them. Where several nodes are left the graph has no cycle, so some node has no edge that leads out
of it, and its inputs reach nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from caesura.safety.reach import JoinGraph

Component = frozenset[int]

_EVERYONE = -1
"""A node between all others and the inputs that need no pin at all: every node leads to it, it leads to them."""


def components(graph: JoinGraph, *, ordered: bool = True) -> tuple[Component, ...]:
    """The nodes that are left. `ordered=False`: by value schemes alone."""
    streams = [i for i in range(len(graph.join.inputs)) if i not in graph.static]
    known = {number for number, each in enumerate(graph.classes) if each.constant is not None}
    known |= {each for table in graph.static for each in graph.members[table]}
    offers = [
        (offered, {graph.class_of[a] for a in scheme.attributes} - known)
        for offered, scheme in graph.offers
        if offered not in graph.static and (ordered or not scheme.ordered)
    ]
    node_of = {i: i for i in streams}
    while True:
        pinning: dict[int, set[int]] = {}
        for i in streams:
            for each in graph.members[i]:
                pinning.setdefault(each, set()).add(node_of[i])
        edges: dict[int, set[int]] = {node: {_EVERYONE} for node in node_of.values()} | {_EVERYONE: set()}
        for offered, needs in offers:
            if not needs:
                edges[_EVERYONE].add(node_of[offered])
            for node in set.intersection(*(pinning[each] for each in needs)) if needs else ():
                edges[node].add(node_of[offered])
        merged = {node: min(group - {_EVERYONE}) for group in _strong(edges) if group != {_EVERYONE} for node in group}
        if len(set(merged.values())) == len(set(node_of.values())):
            break
        node_of = {i: merged[node] for i, node in node_of.items()}
    found: dict[int, set[int]] = {}
    for i, node in node_of.items():
        found.setdefault(node, set()).add(i)
    return tuple(frozenset(each) for each in found.values())


def _strong(edges: Mapping[int, Sequence[int] | set[int]]) -> Iterator[set[int]]:
    """The strongly connected components (Tarjan), without recursion: a chain may have thousands of inputs."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in edges:
        if root in index:
            continue
        path = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    path.append((target, iter(edges[target])))
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
