"""A join as the safety check sees it: equality classes, bounds, and the schemes that they could pin.

Step 1 and 2 of THEORY section 4. Everything is computed once, when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from caesura.expression import Expr
from caesura.plan import Join, endless
from caesura.punctuation import Scheme
from caesura.safety.bounds import Bound, matching_bounds
from caesura.safety.equality import EqualityClass, matching_classes


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

    def pinned(self, known: Collection[int]) -> bool:
        """Whether all attributes of the scheme are pinned where these classes are known."""
        if self.scheme.ordered:
            return not self.lacking or not self.needs.isdisjoint(known)
        return self.needs.issubset(known)


@dataclass(frozen=True)
class Closure:
    """The streams that are reached, and the classes that are pinned then."""

    reached: frozenset[int]
    pinned: frozenset[int]


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
        return matching_bounds(self.join)

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
        return tuple(i for i in self.inputs if i not in self.static)

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
        members: list[dict[int, str]] = []
        for plan in self.join.inputs:
            names = [c.name for c in plan.columns if c.name in self.class_of]
            names.sort(key=lambda name: name not in self.join.compared)
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
