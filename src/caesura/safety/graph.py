"""The punctuation graph of a join (Li et al., definitions 7, 8 and 11), as it is shown to people.

An edge leads from the inputs whose columns pin a scheme to the input that has the scheme: a row joined from them
is protected from it. One source makes it an edge of the punctuation graph, several a generalised one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product

from caesura.expression import Expr
from caesura.punctuation import Scheme
from caesura.safety.bounds import Bound
from caesura.safety.components import transformed
from caesura.safety.reach import JoinGraph, Offer, Reach

_SHOWN = 24
"""A scheme of many attributes may be pinned in very many ways; so many are shown."""


@dataclass(frozen=True)
class Pinned:
    """`attribute` equals a column or a constant, or is at most one with shifts."""

    attribute: str
    by: str | Expr
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Edge:
    """`sources` are inputs, none if constants are enough."""

    sources: tuple[int, ...]
    target: int
    scheme: Scheme
    pinned: tuple[Pinned, ...]


@dataclass(frozen=True)
class PunctuationGraph:
    """`purgeable` are the inputs that reach all others; `rounds` how the transformed graph merged its nodes."""

    graph: JoinGraph
    edges: tuple[Edge, ...]
    purgeable: frozenset[int]
    rounds: tuple[tuple[frozenset[int], ...], ...]


def punctuation_graph(graph: JoinGraph, reaches: Iterable[Reach | None]) -> PunctuationGraph:
    edges = (edge for offer in graph.offers for edge in _edges(graph, offer))
    purgeable = frozenset(each.start for each in reaches if each is not None and each.complete)
    return PunctuationGraph(graph, tuple(edges), purgeable, transformed(graph).rounds)


def _edges(graph: JoinGraph, offer: Offer) -> Iterator[Edge]:
    """Every smallest set of inputs that pins the scheme."""
    ways = [list(_ways(graph, offer, attribute)) for attribute in offer.scheme.attributes]
    found: list[tuple[frozenset[int], tuple[Pinned, ...]]] = []
    for chosen in islice(product(*ways), 1000):
        sources = frozenset(i for i, _ in chosen if i is not None)
        found.append((sources, tuple(pinned for _, pinned in chosen)))
    found.sort(key=lambda each: len(each[0]))
    kept: list[frozenset[int]] = []
    for sources, pinned in found:
        if len(kept) < _SHOWN and not any(smaller <= sources for smaller in kept):
            kept.append(sources)
            yield Edge(tuple(sorted(sources)), offer.input, offer.scheme, pinned)


def _ways(graph: JoinGraph, offer: Offer, attribute: str) -> Iterator[tuple[int | None, Pinned]]:
    """What pins one attribute: an input, or None for a constant."""
    own = graph.class_of[attribute]
    paths = {own: (), **offer.paths} if offer.scheme.ordered else {own: ()}
    for to, path in paths.items():
        if to is None:
            by = path[-1].by if path else graph.constants[own]
            yield None, Pinned(attribute, by, path)
            continue
        if to in graph.constants:
            yield None, Pinned(attribute, graph.constants[to], path)
        for i in graph.inputs_of[to]:
            if i != offer.input:
                yield i, Pinned(attribute, graph.members[i][to], path)
