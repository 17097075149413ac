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
from caesura.safety.join_graph import JoinGraph, Offer
from caesura.safety.reach import Reach

_SHOWN, _TRIED = 24, 1000
"""A scheme of many attributes may be pinned by very many sets of inputs; so many are shown, of so many tried."""


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
    """Every single input that pins the scheme; then sets of several, of which no part is enough."""
    ways = [dict(reversed(list(_ways(graph, offer, attribute)))) for attribute in offer.scheme.attributes]

    def edge(sources: Iterable[int | None]) -> Edge:
        chosen = list(sources)
        pinned = tuple(next(way[i] for i in (None, *chosen) if i in way) for way in ways)
        return Edge(tuple(sorted({i for i in chosen if i is not None})), offer.input, offer.scheme, pinned)

    if all(None in way for way in ways):
        yield edge(())
        return
    alone = [i for i in graph.inputs if all(i in way or None in way for way in ways)]
    yield from (edge((i,)) for i in alone)
    others = [[None] if None in way else [i for i in way if i not in alone] for way in ways]
    kept: list[frozenset[int | None]] = []
    for chosen in islice(product(*others), _TRIED):
        sources = frozenset(chosen) - {None}
        if len(kept) < _SHOWN and not any(fewer <= sources for fewer in kept):
            kept.append(sources)
            yield edge(sources)


def _ways(graph: JoinGraph, offer: Offer, attribute: str) -> Iterator[tuple[int | None, Pinned]]:
    """What pins one attribute: an input, or None for a constant; the nearest bound of an input first."""
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
