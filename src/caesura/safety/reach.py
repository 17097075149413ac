"""Steps 2 to 4 of THEORY section 4: when may a row of a join input be purged? (Li et al., theorems 1 to 4)

The reach of S starts from S and the static inputs and adds an input once some scheme of it has all its
attributes pinned. The state of S is purgeable iff every input is added; the order is the chained purge of
section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice

from caesura.expression import Expr
from caesura.plan import Join
from caesura.punctuation import Scheme
from caesura.safety.bounds import Shift
from caesura.safety.join_graph import Closure, JoinGraph, Offer

LONG = 100
"""Joins of more inputs are explained by their first hops: all of them would be too many."""


@dataclass(frozen=True)
class Pin:
    """`attribute` of the input to be added equals `by`, a column of the rows joined so far or a constant.

    An ordered attribute need not be equal: it is at most `by` with the shifts applied, if `bounded`.
    """

    attribute: str
    by: str | Expr
    bounded: bool = False
    shifts: tuple[Shift, ...] = ()


@dataclass(frozen=True)
class Hop:
    """`input` is added: its punctuations on `scheme` cover the rows joined so far, compared as `pins` says."""

    input: int
    scheme: Scheme
    pins: tuple[Pin, ...]


@dataclass(frozen=True)
class Candidate:
    """A scheme that does not help, and the attributes of it that nobody pins."""

    scheme: Scheme
    unpinned: tuple[str, ...]


@dataclass(frozen=True)
class Unreached:
    """`pinned` are the columns of the input that a scheme would have to be on.

    `bounded` are others, which are at most something known: an ordered scheme on them would do.
    """

    input: int
    candidates: tuple[Candidate, ...]
    pinned: tuple[str, ...]
    bounded: tuple[str, ...] = ()


def staying(reaches: Iterable[Reach | None]) -> list[int]:
    """The inputs of a join whose rows never leave."""
    return [i for i, reach in enumerate(reaches) if reach is not None and not reach.complete]


@dataclass(frozen=True)
class Reach:
    """Which inputs a row of `start` is protected from.

    A join of a thousand inputs has a million hops, so the hops are found when they are asked for.
    """

    graph: JoinGraph
    start: int
    complete: bool
    """Every input is reached: the state of `start` is purgeable."""
    by_values: bool
    """Every input is reached by value schemes alone."""

    @property
    def join(self) -> Join:
        return self.graph.join

    @property
    def static(self) -> tuple[int, ...]:
        """The inputs that are reached from the start."""
        return self.graph.static

    @cached_property
    def hops(self) -> tuple[Hop, ...]:
        """The other inputs that are reached, in the order found."""
        return tuple(self._walk())

    def orders(self) -> Iterator[tuple[int, ...]]:
        """The orders in which all other streams can be reached, that of the hops first. In a cycle there are
        several, and a row may go as soon as one of them lets it (THEORY section 5)."""
        proof = tuple(hop.input for hop in self.hops)
        yield proof
        yield from (order for order in self._orders((), self.graph.known) if order != proof)

    def _orders(self, so_far: tuple[int, ...], known: frozenset[int]) -> Iterator[tuple[int, ...]]:
        graph = self.graph
        known = known.union(graph.members[so_far[-1] if so_far else self.start])
        left = [i for i in graph.streams if i != self.start and i not in so_far]
        if not left:
            yield so_far
        for i in left:
            if any(offer.input == i and offer.pinned(known) for offer in graph.offers):
                yield from self._orders((*so_far, i), known)

    def first_hops(self, count: int) -> tuple[Hop, ...]:
        return tuple(islice(self._walk(), count))

    @cached_property
    def closure(self) -> Closure:
        return self.graph.closure((self.start,))

    @cached_property
    def missing(self) -> tuple[int, ...]:
        """The inputs that are not reached."""
        reached = self.closure.reached
        return () if self.complete else tuple(i for i in self.graph.streams if i not in reached)

    @property
    def frontier(self) -> tuple[int, ...]:
        """The inputs that are not reached and have a column that is pinned or bounded: a scheme on it would do."""
        graph, pinned = self.graph, self.closure.pinned
        bounded = (each for each, above in graph.above.items() if not above.isdisjoint(pinned))
        near = {i for each in (*pinned, *bounded) for i in graph.inputs_of[each]}
        return tuple(sorted(near.difference(self.closure.reached, self.static)))

    @property
    def unreached(self) -> tuple[Unreached, ...]:
        return tuple(map(self.lacks, self.missing))

    def lacks(self, i: int) -> Unreached:
        """Why an input is not reached."""
        graph, pinned = self.graph, self.closure.pinned
        candidates = (
            Candidate(scheme, tuple(a for a in scheme.attributes if graph.class_of.get(a, -1) not in pinned))
            for scheme in graph.schemes[i]
        )
        equal = (c.name for c in self.join.inputs[i].columns if graph.class_of.get(c.name, -1) in pinned)
        bounded = (
            column
            for each, column in graph.members[i].items()
            if each not in pinned and not graph.above.get(each, frozenset()).isdisjoint(pinned)
        )
        return Unreached(i, tuple(candidates), tuple(equal), tuple(bounded))

    def _walk(self) -> Iterator[Hop]:
        """The hops in their order.

        Every offer is looked at once per class, so the cost is linear in the schemes, times log for the order.
        Value schemes go before ordered ones: an ordered hop means that it was needed. Then come hops that only
        look at the row itself, then those with the fewest attributes.
        """
        graph = self.graph
        direct = graph.members[self.start].keys() | graph.constants.keys()
        lacking = list(graph.lacking)
        pins: dict[int, str | Expr] = {}

        def rank(number: int) -> tuple[bool, bool, int, int]:
            scheme = graph.offers[number].scheme
            indirect = not all(graph.class_of[a] in direct for a in scheme.attributes)
            return scheme.ordered, indirect, len(scheme.attributes), number

        ready = [rank(number) for number, count in enumerate(lacking) if not count]
        heapify(ready)

        def pin(each: int, by: str | Expr) -> None:
            if each in pins:
                return
            pins[each] = by
            for number in graph.waiting.get(each, ()):
                lacking[number] -= 1
                if not lacking[number]:
                    heappush(ready, rank(number))

        for each, column in graph.members[self.start].items():
            pin(each, column)
        for each, constant in graph.constants.items():
            pin(each, constant)
        for table in graph.static:
            for each, column in graph.members[table].items():
                pin(each, column)
        reached = {self.start, *graph.static}
        while ready:
            offer = graph.offers[heappop(ready)[-1]]
            if offer.input not in reached:
                reached.add(offer.input)
                yield Hop(offer.input, offer.scheme, tuple(self._pins(offer, pins)))
                for each, column in graph.members[offer.input].items():
                    pin(each, column)

    def _pins(self, offer: Offer, pins: dict[int, str | Expr]) -> Iterator[Pin]:
        class_of = self.graph.class_of
        for attribute in offer.scheme.attributes:
            own = class_of[attribute]
            if own in pins:
                yield Pin(attribute, pins[own])
                continue
            to, path = next((to, path) for to, path in offer.paths.items() if to is None or to in pins)
            by = path[-1].by if to is None else pins[to]
            yield Pin(attribute, by, True, tuple(shift for bound in path for shift in bound.shifts))
