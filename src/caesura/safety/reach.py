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
from caesura.plan import Join, endless
from caesura.punctuation import Scheme
from caesura.safety.bounds import Bound, Shift, matching_bounds, window_bounds
from caesura.safety.equality import EqualityClass, matching_classes

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


@dataclass(frozen=True)
class Offer:
    """A scheme of an input that could be pinned: by all of the classes `needs`, or by any one of them.

    `paths`: for an ordered scheme the bounds that lead from its attribute to each of the classes; one that leads
    to a constant stands under None.
    """

    input: int
    scheme: Scheme
    needs: frozenset[int]
    paths: dict[int | None, tuple[Bound, ...]]

    @property
    def lacking(self) -> int:
        if self.scheme.ordered:
            return 0 if None in self.paths else 1
        return len(self.needs)


@dataclass(frozen=True)
class JoinGraph:
    """A join and, for each of its inputs, the schemes in that input's column names."""

    join: Join
    schemes: tuple[tuple[Scheme, ...], ...]

    def __hash__(self) -> int:
        return hash(self.join)

    @cached_property
    def of_values(self) -> JoinGraph:
        """The same without ordered schemes."""
        return JoinGraph(self.join, tuple(tuple(s for s in several if not s.ordered) for several in self.schemes))

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        types = {column.name: column.type for each in self.join.inputs for column in each.columns}
        times = (
            [a for scheme in schemes if scheme.ordered for a in scheme.attributes if types[a].temporal]
            for schemes in self.schemes
        )
        return (*matching_bounds(self.join), *window_bounds(self.join, times))

    @cached_property
    def classes(self) -> tuple[EqualityClass, ...]:
        """Of equal columns, and of each single one that a bound speaks of."""
        equal = matching_classes(self.join)
        alone = dict.fromkeys(
            column for b in self.bounds for column in (b.column, b.by) if isinstance(column, str)
        )
        for each in equal:
            for column in each.columns:
                alone.pop(column, None)
        return (*equal, *(EqualityClass((column,)) for column in alone))

    @cached_property
    def class_of(self) -> dict[str, int]:
        return {column: number for number, each in enumerate(self.classes) for column in each.columns}

    @property
    def inputs(self) -> range:
        return range(len(self.join.inputs))

    @cached_property
    def static(self) -> tuple[int, ...]:
        return tuple(i for i, plan in enumerate(self.join.inputs) if not endless(plan))

    @cached_property
    def streams(self) -> tuple[int, ...]:
        return tuple(i for i in range(len(self.join.inputs)) if i not in self.static)

    @cached_property
    def constants(self) -> dict[int, Expr]:
        return {number: each.constant for number, each in enumerate(self.classes) if each.constant is not None}

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """Every scheme whose attributes could all be pinned by something."""
        return tuple(
            self._offer(i, scheme)
            for i, schemes in enumerate(self.schemes)
            for scheme in schemes
            if all(attribute in self.class_of for attribute in scheme.attributes)
        )

    def _offer(self, i: int, scheme: Scheme) -> Offer:
        if not scheme.ordered:
            return Offer(i, scheme, frozenset(self.class_of[a] for a in scheme.attributes), {})
        paths = self.paths(scheme.attributes[0])
        return Offer(i, scheme, frozenset(each for each in paths if each is not None), paths)

    def paths(self, attribute: str) -> dict[int | None, tuple[Bound, ...]]:
        """What bounds an attribute, nearest first."""
        start = self.class_of[attribute]
        paths: dict[int | None, tuple[Bound, ...]] = {start: ()}
        if start in self.constants:
            paths[None] = ()
        waiting = [start]
        for each in waiting:  # grows while it is gone through
            for bound in self._bounds_of.get(each, ()):
                above = self.class_of[bound.by] if isinstance(bound.by, str) else None
                if above not in paths:
                    paths[above] = (*paths[each], bound)
                    if above is not None:
                        waiting.append(above)
        return paths

    @cached_property
    def above(self) -> dict[int, frozenset[int]]:
        """Class → the other classes that bound it, where there are any."""
        found = {
            each: frozenset(to for to in self.paths(self.classes[each].columns[0]) if to is not None) - {each}
            for each in self._bounds_of
        }
        return {each: above for each, above in found.items() if above}

    @cached_property
    def _bounds_of(self) -> dict[int, list[Bound]]:
        found: dict[int, list[Bound]] = {}
        for bound in self.bounds:
            found.setdefault(self.class_of[bound.column], []).append(bound)
        return found

    @cached_property
    def waiting(self) -> dict[int, list[int]]:
        """Class → the offers with an attribute in it."""
        waiting: dict[int, list[int]] = {}
        for number, offer in enumerate(self.offers):
            for each in offer.needs:
                waiting.setdefault(each, []).append(number)
        return waiting

    def classes_of(self, scheme: Scheme) -> frozenset[int] | None:
        """The classes of a scheme's attributes; None if one is compared with nothing."""
        found = [self.class_of.get(attribute) for attribute in scheme.attributes]
        return None if None in found else frozenset(each for each in found if each is not None)

    @cached_property
    def lacking(self) -> tuple[int, ...]:
        return tuple(offer.lacking for offer in self.offers)

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

    @cached_property
    def inputs_of(self) -> dict[int, list[int]]:
        """Class → the inputs that have a column in it."""
        found: dict[int, list[int]] = {}
        for i, classes in enumerate(self.members):
            for each in classes:
                found.setdefault(each, []).append(i)
        return found

    def closure(self, start: Iterable[int]) -> Closure:
        """What a row joined from `start` is protected from: reach, without the order and the evidence."""
        lacking = list(self.lacking)
        reached = set(start)
        pinned: set[int] = set()
        fresh = set(self.known).union(*(self.members[i] for i in reached))
        ready = [number for number, count in enumerate(lacking) if not count]
        while fresh or ready:
            pinned |= fresh
            for each in fresh:
                for number in self.waiting.get(each, ()):
                    lacking[number] -= 1
                    if not lacking[number]:
                        ready.append(number)
            added = {self.offers[number].input for number in ready} - reached
            ready = []
            reached |= added
            fresh = {each for i in added for each in self.members[i]} - pinned
        return Closure(frozenset(reached.difference(self.static)), frozenset(pinned))

    @cached_property
    def known(self) -> frozenset[int]:
        """The classes that constants and tables pin."""
        return frozenset(self.constants).union(*(self.members[table] for table in self.static))


@dataclass(frozen=True)
class Closure:
    """The streams that are reached, and the classes that are pinned then."""

    reached: frozenset[int]
    pinned: frozenset[int]


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
