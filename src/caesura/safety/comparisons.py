"""THEORY section 8: P⁺, all that comparisons imply over the integers (Arasu et al.).

Every comparison is written `lesser ≤ greater + more`: x < y is x ≤ y − 1, and a constant is compared through ZERO.
What follows from them is a shortest path, so that P⁺ need not be written out: it is asked for element by element.
Of types whose values are not counted (doubles, times, texts) only the order among columns is known, x < y again as
x ≤ y − 1: as there are no constants, only which are less is asked for, never by how much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from sqlglot import exp


@dataclass(frozen=True)
class Hidden:
    """A column that a projection dropped: its values are still somewhere, and bound others. `under` tells it from
    the columns of the same name that other inputs have dropped."""

    under: str
    element: Element


@dataclass(frozen=True)
class Constant:
    """A constant; without a `value`, nobody but Spark knows which."""

    sql: str = "0"
    value: int | None = 0


Element: TypeAlias = "str | Hidden | Constant"
"""A column, or what it is compared with."""
ZERO = Constant()


@dataclass(frozen=True)
class Comparison:
    """`lesser ≤ greater + more`; `said` is the condition that says so, for people."""

    lesser: Element
    greater: Element
    more: int
    said: str = ""


@dataclass(frozen=True)
class Few:
    """A column with finitely many values, at most `size` if that is known, and why, as a clause.

    `condition`: what lists the values, if it is one on this column alone.
    """

    element: Element
    why: str
    size: int | None = None
    condition: exp.Expr | None = None


def equal(one: Element, other: Element, more: int = 0, said: str = "") -> tuple[Comparison, Comparison]:
    """`one = other + more`"""
    return Comparison(one, other, more, said), Comparison(other, one, -more, said)


@dataclass(frozen=True)
class Interval:
    """The values that P⁺ leaves a column; None where nothing does, or only Spark knows where it ends."""

    low: int | None = None
    high: int | None = None

    @property
    def size(self) -> int | None:
        return None if self.low is None or self.high is None else max(self.high - self.low + 1, 0)

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, int)
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )


def within(element: Element, interval: Interval, said: str = "") -> tuple[Comparison, ...]:
    """That an element lies in an interval."""
    above = () if interval.high is None else (Comparison(element, ZERO, interval.high, said),)
    below = () if interval.low is None else (Comparison(ZERO, element, -interval.low, said),)
    return (*above, *below)


@dataclass(frozen=True, eq=False)
class Closure:
    """All that these imply."""

    comparisons: tuple[Comparison, ...]
    few: tuple[Few, ...] = ()

    @cached_property
    def _from(self) -> dict[Element, list[Comparison]]:
        found: dict[Element, list[Comparison]] = {}
        for each in self.comparisons:
            found.setdefault(each.lesser, []).append(each)
        return found

    @cached_property
    def elements(self) -> frozenset[Element]:
        return frozenset(end for each in self.comparisons for end in (each.lesser, each.greater))

    @cached_property
    def neighbours(self) -> Mapping[Element, frozenset[Element]]:
        """What an element is compared with, constants aside."""
        found: dict[Element, set[Element]] = {}
        for each in self.comparisons:
            if not isinstance(each.lesser, Constant) and not isinstance(each.greater, Constant):
                found.setdefault(each.lesser, set()).add(each.greater)
                found.setdefault(each.greater, set()).add(each.lesser)
        return {each: frozenset(near) for each, near in found.items()}

    def related(self, element: Element) -> frozenset[Element]:
        """Everything that comparisons connect it with, constants aside."""
        found: set[Element] = {element}
        waiting = [element]
        for each in waiting:  # grows while it is gone through
            new = self.neighbours.get(each, frozenset()) - found
            found |= new
            waiting += new
        return frozenset(found)

    def ends_of(self, elements: Iterable[Element]) -> tuple[int, int] | None:
        """All numbers that bound one of them lie between these."""
        intervals = [self.interval(each) for each in elements if each in self.elements]
        found = [end for each in intervals for end in (each.low, each.high) if end is not None]
        return (min(found), max(found)) if found else None

    @cached_property
    def solution(self) -> Mapping[Element, int] | None:
        """Values that satisfy all comparisons; None if there are none. ZERO is 0."""
        least = self._paths(dict.fromkeys((ZERO, *self.elements), 0))
        if least is None:
            return None
        # x ≤ y + more holds for all −least, since least[y] ≤ least[x] + more.
        return {each: least[ZERO][0] - far for each, (far, _) in least.items()}

    @property
    def satisfiable(self) -> bool:
        return self.solution is not None

    @cached_property
    def _known(self) -> dict[Element, dict[Element, tuple[int, Comparison | None]]]:
        return {}

    def above(self, element: Element) -> dict[Element, tuple[int, Comparison | None]]:
        """Everything that bounds an element from above: y → the least `more` with element ≤ y + more, and the last
        comparison on the way. Only where all of it is satisfiable."""
        if element not in self._known:
            found = self._paths({element: 0})
            assert found is not None, "what contradicts itself has no bounds"
            self._known[element] = found
        return self._known[element]

    def _paths(self, start: Mapping[Element, int]) -> dict[Element, tuple[int, Comparison | None]] | None:
        """Shortest paths; None if there is a circle that gets shorter all the time."""
        far: dict[Element, tuple[int, Comparison | None]] = {each: (more, None) for each, more in start.items()}
        waiting, queued = deque(far), set(far)
        rounds = dict.fromkeys(far, 0)
        while waiting:
            here = waiting.popleft()
            queued.discard(here)
            for step in self._from.get(here, ()):
                more = far[here][0] + step.more
                if step.greater in far and far[step.greater][0] <= more:
                    continue
                far[step.greater] = more, step
                if step.greater not in queued:
                    rounds[step.greater] = rounds.get(step.greater, 0) + 1
                    if rounds[step.greater] > len(self.elements) + 1:
                        return None
                    queued.add(step.greater)
                    waiting.append(step.greater)
        return far

    def most(self, one: Element, other: Element) -> int | None:
        """The least `more` with one ≤ other + more."""
        found = self.above(one).get(other)
        return None if found is None else found[0]

    def implies(self, comparisons: Iterable[Comparison]) -> bool:
        most = ((self.most(each.lesser, each.greater), each.more) for each in comparisons)
        return all(least is not None and least <= more for least, more in most)

    def path(self, one: Element, other: Element) -> tuple[Comparison, ...]:
        """The comparisons that together say one ≤ other + most(one, other)."""
        found, steps = self.above(one), list[Comparison]()
        while (step := found[other][1]) is not None:
            steps.append(step)
            other = step.lesser
        return tuple(reversed(steps))

    def interval(self, element: Element) -> Interval:
        high, low = self.most(element, ZERO), self.most(ZERO, element)
        return Interval(None if low is None else -low, high)

    @cached_property
    def _constants(self) -> tuple[Constant, ...]:
        others = (each for each in self.elements if isinstance(each, Constant) and each != ZERO)
        return (ZERO, *sorted(others, key=lambda each: each.sql))

    def ends(self, element: Element) -> tuple[tuple[Comparison, ...] | None, tuple[Comparison, ...] | None]:
        """Why it is bounded from below and from above: the comparisons that lead to a constant."""
        below = next((k for k in self._constants if element in self.above(k)), None)
        above = next((k for k in self._constants if k in self.above(element)), None)
        return (
            None if below is None else self.path(below, element),
            None if above is None else self.path(element, above),
        )

    def same(self, element: Element) -> frozenset[Element]:
        """The class of an element: all that is equal to it, itself included."""
        found = self.above(element)
        return frozenset(each for each in self.rigid(element) if not found[each][0])

    def rigid(self, element: Element) -> frozenset[Element]:
        """All that lies at a fixed distance from it, itself included."""
        if element not in self._rigid:
            found = self.above(element).items()
            near = (each for each, (more, _) in found if self.most(each, element) == -more)
            self._rigid[element] = frozenset(near)
        return self._rigid[element]

    @cached_property
    def _rigid(self) -> dict[Element, frozenset[Element]]:
        return {}

    def few_of(self, element: Element) -> Few | None:
        """Why it has few values, if something lists them; of several reasons the one that leaves the fewest."""
        alike = self.same(element) if element in self.elements else {element}
        found = [each for each in self.few if each.element in alike]
        return min(found, key=lambda few: (few.size is None, few.size or 0, few.element != element), default=None)

    def bounded(self, element: Element) -> bool:
        """Whether P⁺ leaves finitely many values."""
        return self.few_of(element) is not None or (element in self.elements and None not in self.ends(element))

    def size(self, element: Element) -> int | None:
        """How many values are left at the most, if that can be told."""
        few = self.few_of(element)
        sizes = [self.interval(element).size if element in self.elements else None, few.size if few else None]
        return min((each for each in sizes if each is not None), default=None)


def closure(comparisons: Iterable[Comparison], few: Iterable[Few] = ()) -> Closure:
    return Closure(tuple(comparisons), tuple(few))
