"""THEORY section 7: punctuations are kept too, because they also purge rows that come later. Do they ever go?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from caesura.diagnostics import Span
from caesura.plan import Compare, Join, Merge, Plan, endless, walk
from caesura.punctuation import Scheme
from caesura.safety.join_graph import JoinGraph, Offer
from caesura.safety.names import Names, few, listed, place
from caesura.safety.reach import LONG
from caesura.safety.schemes import Derivation, Derived

GoneBy: TypeAlias = Literal["bound", "coalescing", "partners", "lifespan"]


@dataclass(frozen=True)
class Kept:
    """The punctuations of one input that an operator keeps, and why they stay few; `by` is None if they do not."""

    operator: str
    input: str
    scheme: Scheme
    by: GoneBy | None
    because: str
    derived: Derived
    span: Span | None = field(default=None, compare=False)


def kept_punctuations(plan: Plan, derivation: Derivation, names: Names) -> tuple[Kept, ...]:
    """For joins, UNION, INTERSECT and EXCEPT: what else keeps rows lets go of both at once."""
    return tuple(kept for node in walk(plan) for kept in _kept(node, derivation, names))


def _kept(node: Plan, derivation: Derivation, names: Names) -> Iterator[Kept]:
    match node:
        case Join():
            partners = _joined(derivation.graphs[node], derivation)
        case Compare() | Merge():
            partners = _combined(node, derivation)
        case _:
            return
    for below, derived, silent in partners:
        by, because = _gone(below, derived, silent, names)
        yield Kept(names.operators[node], names.input(below), derived.scheme, by, because, derived, place(below))


Partners: TypeAlias = Iterator[tuple[Plan, Derived, tuple[Plan, ...]]]
"""An input, a scheme of it that purges rows of others, and those others that do not punctuate the same values."""


def _joined(graph: JoinGraph, derivation: Derivation) -> Partners:
    punctuated = [
        [classes for scheme in schemes if (classes := graph.classes_of(scheme)) is not None]
        for schemes in graph.schemes
    ]
    for offer in _used(graph, derivation):
        below = graph.join.inputs[offer.input]
        spoken = graph.classes_of(offer.scheme) or frozenset()
        joined = {k for each in offer.needs for k in graph.inputs_of[each]}
        # Through a table, rows of any other stream may ask for a value that the stream itself does not have.
        asking = set(graph.streams) if joined.intersection(graph.static) else joined.intersection(graph.streams)
        others = asking - {offer.input}
        if others:
            silent = sorted(k for k in others if not any(each <= spoken for each in punctuated[k]))
            derived = derivation.origin(below, offer.scheme)
            yield below, derived, tuple(graph.join.inputs[k] for k in silent)


def _used(graph: JoinGraph, derivation: Derivation) -> Iterable[Offer]:
    """The schemes that some purge looks at; of a very long join all that it may."""
    if len(graph.streams) > LONG:
        return graph.offers
    reaches = (each for each in derivation.reaches[graph.join] if each is not None and each.complete)
    used = {(hop.input, hop.scheme) for reach in reaches for hop in reach.hops}
    return (offer for offer in graph.offers if (offer.input, offer.scheme) in used)


def _combined(node: Compare | Merge, derivation: Derivation) -> Partners:
    """What one side has closed waits for the others to close the same; if that is of no use, nothing is kept."""
    for below in node.inputs if derivation.schemes[node] or isinstance(node, Compare) else ():
        others = [plan for plan in node.inputs if plan is not below and endless(plan)]
        for derived in derivation.schemes[below] if others else ():
            spoken = set(derived.scheme.attributes)
            silent = (
                other
                for other in others
                if not any(spoken.issuperset(scheme.attributes) for scheme in derivation.of(other))
            )
            yield below, derived, tuple(silent)


def _gone(below: Plan, derived: Derived, silent: tuple[Plan, ...], names: Names) -> tuple[GoneBy | None, str]:
    shown, on = names.shown(below), listed(derived.scheme.attributes)
    if derived.scheme.ordered:
        return "bound", f"{shown} has one bound on {on}, which rises"
    if not silent:
        return (
            "partners",
            f"a punctuation of {shown} on {on} goes when its partners have punctuated the same value",
        )
    lives = [each.promise.lifespan for each in derived.promised]
    if all(life is not None for life in lives):
        return "lifespan", f"a punctuation of {shown} on {on} expires after its LIFESPAN"
    types = {column.name: column.type for column in below.columns}
    if len(derived.scheme.attributes) == 1 and types[derived.scheme.attributes[0]].enumerable:
        return "coalescing", f"closed values of {on} are neighbours and coalesce into ranges"
    late = few(silent, names.shown)
    return None, f"{shown} leaves one entry for each {on}: {late} never punctuates the same"
