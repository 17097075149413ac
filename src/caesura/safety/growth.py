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
from caesura.safety.partners import coalescing, partners
from caesura.safety.reach import LONG
from caesura.safety.schemes import Derivation, Derived

_KEPT = "only streams that one inner join alone reads, each with one promise on it, forget what all punctuate"

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
    silent: tuple[Plan, ...] = ()
    """The inputs that never punctuate the same."""
    span: Span | None = field(default=None, compare=False)


def kept_punctuations(plan: Plan, derivation: Derivation, names: Names, once: frozenset[str]) -> tuple[Kept, ...]:
    """For joins, UNION, INTERSECT and EXCEPT: what else keeps rows lets go of both at once. The streams `once` are
    read in one place only."""
    return tuple(kept for node in walk(plan) for kept in _kept(node, derivation, names, once))


def _kept(node: Plan, derivation: Derivation, names: Names, once: frozenset[str]) -> Iterator[Kept]:
    match node:
        case Join():
            remembered = _joined(derivation.graphs[node], derivation, once)
        case Compare() | Merge():
            remembered = _combined(node, derivation)
        case _:
            return
    for each in remembered:
        below, scheme = each.input, each.derived.scheme
        by, because = _gone(each, names)
        operator, shown = names.operators[node], names.input(below)
        yield Kept(operator, shown, scheme, by, because, each.derived, each.silent, place(below))


@dataclass(frozen=True)
class _Remembered:
    """A scheme of an input that purges rows of others, and those others that do not punctuate the same values."""

    input: Plan
    derived: Derived
    silent: tuple[Plan, ...]
    forgotten: bool = False
    """Whether its punctuations go when the others have punctuated the same."""


def _joined(graph: JoinGraph, derivation: Derivation, once: frozenset[str]) -> Iterator[_Remembered]:
    punctuated = [
        [classes for scheme in schemes if (classes := graph.classes_of(scheme)) is not None]
        for schemes in graph.schemes
    ]
    forgotten = {held for each in partners(graph, once) for held in each.forgetting.items()}
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
            goes = (offer.input, offer.scheme.attributes) in forgotten
            yield _Remembered(below, derived, tuple(graph.join.inputs[k] for k in silent), goes)


def _used(graph: JoinGraph, derivation: Derivation) -> Iterable[Offer]:
    """The schemes that some purge looks at; of a very long join all that it may."""
    if len(graph.streams) > LONG:
        return graph.offers
    reaches = (each for each in derivation.reaches[graph.join] if each is not None and each.complete)
    used = {(hop.input, hop.scheme) for reach in reaches for hop in reach.hops}
    return (offer for offer in graph.offers if (offer.input, offer.scheme) in used)


def _combined(node: Compare | Merge, derivation: Derivation) -> Iterator[_Remembered]:
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
            yield _Remembered(below, derived, tuple(silent))


def _gone(each: _Remembered, names: Names) -> tuple[GoneBy | None, str]:
    scheme = each.derived.scheme
    shown, on = names.shown(each.input), listed(scheme.attributes)
    if scheme.ordered:
        return "bound", f"{shown} has one bound on {on}, which rises"
    if all(promised.promise.lifespan is not None for promised in each.derived.promised):
        return "lifespan", f"a punctuation of {shown} on {on} expires after its LIFESPAN"
    if coalescing(each.input, scheme.attributes):
        return "coalescing", f"closed values of {on} are neighbours and coalesce into ranges"
    if each.forgotten:
        return (
            "partners",
            f"a punctuation of {shown} on {on} goes when its partners have punctuated the same value",
        )
    why = f"{few(each.silent, names.shown)} never punctuates the same" if each.silent else _KEPT
    return None, f"{shown} leaves one entry for each {on}: {why}"
