"""The constructive half of the proofs of Arasu et al.: rows that no continuation may take for one another.

All comparisons of the query are satisfied by some values. Whatever has no end above may be moved up, with all that
must not be less, and they still are; likewise below. So there are as many ways to satisfy them as one likes, which
differ in the attribute that a synopsis would have to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from caesura.safety.bounded import Lack, Reference, Way
from caesura.safety.comparisons import ZERO, Closure, Constant, Element


@dataclass(frozen=True)
class _Move:
    """These elements are moved beyond the constants. `rising`: their values rise with k."""

    elements: frozenset[Element]
    way: Way
    rising: bool = True

    def by(self, k: int, rows: int) -> int:
        far = k if self.rising is (self.way == "above") else 2 * rows - k
        return far if self.way == "above" else -far

    def yields(self) -> bool:
        """Whether what is also in another move in the same way goes with that one, because it goes further."""
        return self.rising is (self.way == "above")


@dataclass(frozen=True)
class Spread:
    """For each k the values of the elements of a query, k from 1 up to `rows`."""

    start: Mapping[Element, int]
    moves: tuple[_Move, ...]
    rows: int
    step: int

    def value(self, element: Element, k: int) -> int:
        far = (each.by(k, self.rows) for each in self.moves if element in each.elements)
        return self.start[element] + self.step * max(far, key=abs, default=0)


def spread(known: Closure, lack: Lack, own: frozenset[Element], rows: int) -> Spread | None:
    """Values for so many rows of the stream that has the elements `own`; None for types that are not counted."""
    start = known.solution
    if start is None or lack.attribute not in start or not lack.ways:
        return None
    width = max(map(len, _ranges(known, start)), default=0) + 2
    if lack.needed != "order":
        return Spread(start, (_move(known, lack.attribute, lack.ways[-1]),), rows, width)
    return Spread(start, tuple(_moves(known, lack.references, own)), rows, width)


def _ranges(known: Closure, values: Mapping[Element, int]) -> Iterator[range]:
    """From the least to the greatest value of elements that comparisons connect, constants aside."""
    left = {each for each in values if not isinstance(each, Constant)}
    while left:
        group = known.related(left.pop())
        left -= group
        yield range(min(values[each] for each in group), max(values[each] for each in group))


def _move(known: Closure, element: Element, way: Way, *, rising: bool = True) -> _Move:
    """An element, and all that must move with it."""
    if way == "above":
        moved = frozenset(known.above(element))
    else:
        moved = frozenset(each for each in known.elements if element in known.above(each))
    return _Move((moved | {element}) - {ZERO}, way, rising)


def _moves(known: Closure, references: tuple[Reference, ...], own: frozenset[Element]) -> Iterator[_Move]:
    """With one comparison all move together. With two that ask for rows that are great, or small, in both, rows
    that are greater in one are less in the other."""
    first, second = references[0], references[-1]
    if len(references) == 1 or (first.greater in own) != (second.greater in own):
        yield from (_by(known, each, rising=True) for each in references)
        return
    for rising in (True, False):
        one, other = _by(known, first, rising=rising), _by(known, second, rising=not rising)
        further, left = (other, first) if one.yields() else (one, second)
        if one.way != other.way or further.elements.isdisjoint((left.lesser, left.greater)):
            yield from (one, other)
            return


def _by(known: Closure, reference: Reference, *, rising: bool) -> _Move:
    way = reference.ways[-1]
    return _move(known, reference.lesser if way == "above" else reference.greater, way, rising=rising)
