"""THEORY section 7: punctuations are kept too, because they also purge rows that come later. Do they ever go?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from caesura.diagnostics import Span
from caesura.plan import Compare, Join, Plan, endless, walk
from caesura.punctuation import Scheme
from caesura.safety.names import Names, few, listed, place
from caesura.safety.reach import JoinGraph
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
    """For joins, INTERSECT and EXCEPT: what else keeps rows lets go of both at once."""
    return tuple(kept for node in walk(plan) for kept in _kept(node, derivation, names))


def _kept(node: Plan, derivation: Derivation, names: Names) -> Iterator[Kept]:
    match node:
        case Join():
            partners = _joined(derivation.graphs[node], derivation)
        case Compare():
            partners = _compared(node, derivation)
        case _:
            return
    for below, derived, silent in partners:
        by, because = _gone(below, derived, silent, names)
        yield Kept(names.operators[node], names.input(below), derived.scheme, by, because, derived, place(below))


Partners: TypeAlias = Iterator[tuple[Plan, Derived, tuple[Plan, ...]]]
"""An input, a scheme of it that purges rows of others, and those others that do not punctuate the same values."""


def _joined(graph: JoinGraph, derivation: Derivation) -> Partners:
    punctuated = [
        [
            {graph.class_of[a] for a in scheme.attributes}
            for scheme in schemes
            if graph.class_of.keys() >= set(scheme.attributes)
        ]
        for schemes in graph.schemes
    ]
    for offer in graph.offers:
        below = graph.join.inputs[offer.input]
        spoken = {graph.class_of[a] for a in offer.scheme.attributes}
        others = {k for each in offer.needs for k in graph.inputs_of[each]} - {offer.input, *graph.static}
        if others:
            silent = sorted(k for k in others if not any(each <= spoken for each in punctuated[k]))
            derived = derivation.origin(below, offer.scheme)
            yield below, derived, tuple(graph.join.inputs[k] for k in silent)


def _compared(node: Compare, derivation: Derivation) -> Partners:
    for below, other in (node.inputs, node.inputs[::-1]):
        for derived in derivation.schemes[below] if endless(other) else ():
            spoken = set(derived.scheme.attributes)
            covered = any(spoken.issuperset(scheme.attributes) for scheme in derivation.of(other))
            yield below, derived, () if covered else (other,)


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
