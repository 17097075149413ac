"""Steps 2 to 4 of THEORY section 4: when may a row of a join input be purged? (Li et al., theorems 1 to 4)

`reach(graph, S)` starts from S and the static inputs and adds an input once some scheme of it has all its
attributes pinned. The state of S is purgeable iff every input is added; the order is the chained purge of
section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from caesura.expression import Expr
from caesura.plan import Join, endless
from caesura.punctuation import Scheme
from caesura.safety.equality import EqualityClass, equality_classes


@dataclass(frozen=True)
class Pin:
    """`attribute` of the input to be added equals a column of the rows joined so far, or a constant."""

    attribute: str
    by: str | Expr


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
    """`pinned` are the columns of the input that a scheme would have to be on."""

    input: int
    candidates: tuple[Candidate, ...]
    pinned: tuple[str, ...]


@dataclass(frozen=True)
class Reach:
    """Which inputs a row of `start` is protected from, in the order found; `static` were so from the start."""

    join: Join
    start: int
    static: tuple[int, ...]
    hops: tuple[Hop, ...]
    unreached: tuple[Unreached, ...]

    @property
    def complete(self) -> bool:
        return not self.unreached


@dataclass(frozen=True)
class JoinGraph:
    """A join and, for each of its inputs, the schemes in that input's column names."""

    join: Join
    schemes: tuple[tuple[Scheme, ...], ...]

    @cached_property
    def classes(self) -> tuple[EqualityClass, ...]:
        return equality_classes(self.join)

    @cached_property
    def class_of(self) -> dict[str, int]:
        return {column: number for number, each in enumerate(self.classes) for column in each.columns}

    @cached_property
    def static(self) -> tuple[int, ...]:
        return tuple(i for i, plan in enumerate(self.join.inputs) if not endless(plan))

    @cached_property
    def offers(self) -> tuple[tuple[int, Scheme], ...]:
        """Every (input, scheme) whose attributes could all be pinned by something."""
        return tuple(
            (i, scheme)
            for i, schemes in enumerate(self.schemes)
            for scheme in schemes
            if all(attribute in self.class_of for attribute in scheme.attributes)
        )

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """How many classes must be pinned for each offer."""
        return tuple(len({self.class_of[a] for a in scheme.attributes}) for _, scheme in self.offers)

    @cached_property
    def waiting(self) -> dict[int, list[int]]:
        """Class → the offers with an attribute in it."""
        waiting: dict[int, list[int]] = {}
        for number, (_, scheme) in enumerate(self.offers):
            for each in {self.class_of[a] for a in scheme.attributes}:
                waiting.setdefault(each, []).append(number)
        return waiting

    @cached_property
    def members(self) -> tuple[dict[int, str], ...]:
        """For each input: the classes it has a column in, and that column, if possible one that is joined on."""
        joined_on = {column for e in self.join.equalities for column in (e.left, e.right)}
        members: list[dict[int, str]] = []
        for plan in self.join.inputs:
            names = [c.name for c in plan.columns if c.name in self.class_of]
            names.sort(key=lambda name: name not in joined_on)
            members.append({self.class_of[name]: name for name in reversed(names)})  # the first one stays
        return tuple(members)


def reach(graph: JoinGraph, start: int) -> Reach:
    """Every offer is looked at once per attribute, so the cost is linear in the schemes, times log for the order.

    Value schemes go before ordered ones: an ordered hop in the result means that it was needed. Then come
    hops that only look at the row itself, then those with the fewest attributes.
    """
    pins: dict[int, str | Expr] = {}
    lacking = list(graph.needs)
    ready: list[tuple[bool, bool, int, int]] = []

    def pin(each: int, by: str | Expr) -> None:
        if each in pins:
            return
        pins[each] = by
        for number in graph.waiting.get(each, ()):
            lacking[number] -= 1
            if not lacking[number]:
                scheme = graph.offers[number][1]
                indirect = not all(graph.class_of[a] in direct for a in scheme.attributes)
                heappush(ready, (scheme.ordered, indirect, len(scheme.attributes), number))

    constants = {number: each.constant for number, each in enumerate(graph.classes) if each.constant}
    direct = graph.members[start].keys() | constants.keys()
    for each, column in graph.members[start].items():
        pin(each, column)
    for each, constant in constants.items():
        pin(each, constant)
    for table in graph.static:
        for each, column in graph.members[table].items():
            pin(each, column)

    reached = {start, *graph.static}
    hops: list[Hop] = []
    while ready:
        added, scheme = graph.offers[heappop(ready)[-1]]
        if added in reached:
            continue
        reached.add(added)
        hops.append(Hop(added, scheme, tuple(Pin(a, pins[graph.class_of[a]]) for a in scheme.attributes)))
        for each, column in graph.members[added].items():
            pin(each, column)

    return Reach(graph.join, start, graph.static, tuple(hops), tuple(_unreached(graph, reached, pins)))


def _unreached(graph: JoinGraph, reached: set[int], pins: dict[int, str | Expr]) -> Iterator[Unreached]:
    def pinned(column: str) -> bool:
        return graph.class_of.get(column, -1) in pins

    for i, plan in enumerate(graph.join.inputs):
        if i not in reached:
            candidates = (
                Candidate(scheme, tuple(a for a in scheme.attributes if not pinned(a)))
                for scheme in graph.schemes[i]
            )
            yield Unreached(i, tuple(candidates), tuple(c.name for c in plan.columns if pinned(c.name)))
