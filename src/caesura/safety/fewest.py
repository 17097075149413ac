"""The fewest schemes that a join can do with (Li et al., section 5: which schemes a plan uses is its parameter).

Every scheme that is used is another table of punctuations to remember and to ask; every one that is not lets some
rows stay longer. An ordered scheme is a single bound, and is always used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

from caesura.punctuation import Scheme
from caesura.safety.components import purgeable
from caesura.safety.join_graph import JoinGraph

Used: TypeAlias = tuple[int, Scheme]
"""A scheme, and the input that has it."""

EXACT = 12
"""Of more schemes, one after another is left out that can be; there may be fewer then."""


def fewest(graph: JoinGraph) -> JoinGraph:
    """The join with as few schemes, and then with as few attributes in them, as leave all states purgeable that
    are: the punctuation graph stays as strongly connected as it is."""
    wanted = purgeable(graph)
    values = [(o.input, o.scheme) for o in graph.offers if not o.scheme.ordered]
    if len(values) <= EXACT:
        choices = (chosen for size in range(len(values) + 1) for chosen in _by_attributes(values, size))
        return next(found for chosen in choices if purgeable(found := _only(graph, chosen)) == wanted)
    for scheme in sorted(values, key=lambda each: -len(each[1].attributes)):
        fewer = [each for each in values if each != scheme]
        if purgeable(_only(graph, fewer)) == wanted:
            values = fewer
    return _only(graph, values)


def _by_attributes(values: Sequence[Used], size: int) -> list[tuple[Used, ...]]:
    return sorted(combinations(values, size), key=lambda several: sum(len(s.attributes) for _, s in several))


def _only(graph: JoinGraph, values: Sequence[Used]) -> JoinGraph:
    kept = {*values}
    return JoinGraph(
        graph.join,
        tuple(
            tuple(scheme for scheme in several if scheme.ordered or (i, scheme) in kept)
            for i, several in enumerate(graph.schemes)
        ),
    )
