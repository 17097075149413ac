"""P⁺ of a few elements, written out, and the orders that they may have among themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from caesura.safety.comparisons import ZERO, Closure, Constant, Element

Bound: TypeAlias = tuple[Element, Element, int]
"""`lesser ≤ greater + more`"""


def ordered(matrix: Matrix | None, pairs: Sequence[tuple[Element, Element]]) -> Iterator[Matrix]:
    """Each way of ordering each pair that does not contradict itself."""
    if matrix is None:
        return
    if not pairs:
        yield matrix
        return
    (x, y), *rest = pairs
    if matrix.compared(x, y):
        yield from ordered(matrix, rest)
        return
    for bounds in ([(x, y, -1)], [(x, y, 0), (y, x, 0)], [(y, x, -1)]):
        yield from ordered(matrix.with_all(bounds), rest)


@dataclass(frozen=True, eq=False)
class Matrix:
    """P⁺ of a few elements, written out: `most[x][y]` is the least `more` with x ≤ y + more."""

    index: Mapping[Element, int]
    most: list[list[float]]
    few: frozenset[Element]

    @staticmethod
    def of(known: Closure, attributes: tuple[Element, ...], unbounded: Collection[Element]) -> Matrix:
        elements = (ZERO, *attributes)

        def most(x: Element, y: Element) -> float:
            found = 0 if x == y else known.most(x, y)
            return inf if found is None else found

        # An attribute that lies between constants nobody knows the value of is bounded all the same.
        few = frozenset(each for each in attributes if each not in unbounded)
        return Matrix(
            {each: i for i, each in enumerate(elements)}, [[most(x, y) for y in elements] for x in elements], few
        )

    def with_constants(self, constants: Iterable[Constant]) -> Matrix | None:
        index, most = dict(self.index), [list(row) for row in self.most]
        bounds: list[Bound] = []
        for each in constants:
            assert each.value is not None
            if each == ZERO:
                continue
            index[each] = len(index)
            for row in most:
                row.append(inf)
            most.append([*([inf] * (len(index) - 1)), 0])
            bounds += ((each, ZERO, each.value), (ZERO, each, -each.value))
        return Matrix(index, most, self.few).with_all(bounds)

    def with_all(self, bounds: Iterable[Bound]) -> Matrix | None:
        """With these besides; None if they contradict the others."""
        most = [list(row) for row in self.most]
        size = range(len(most))
        for x, y, more in bounds:
            u, v = self.index[x], self.index[y]
            if more >= most[u][v]:
                continue
            if most[v][u] + more < 0:
                return None
            for i in size:
                to = most[i][u] + more
                if to < inf:
                    row, on = most[i], most[v]
                    for j in size:
                        if to + on[j] < row[j]:
                            row[j] = to + on[j]
        return Matrix(self.index, most, self.few)

    def _most(self, x: Element, y: Element) -> float:
        return self.most[self.index[x]][self.index[y]]

    def compared(self, x: Element, y: Element) -> bool:
        """Whether it is fixed which of <, = and > holds."""
        return self._most(x, y) < 0 or self._most(y, x) < 0 or self.equal(x, y)

    def equal(self, x: Element, y: Element) -> bool:
        return self._most(x, y) == 0 == self._most(y, x)

    def _rigid(self, x: Element, y: Element) -> bool:
        return self._most(x, y) + self._most(y, x) == 0

    def bounded(self, x: Element) -> bool:
        return x in self.few or (self._most(x, ZERO) < inf and self._most(ZERO, x) < inf)

    def classes(self, attributes: Iterable[Element]) -> int:
        """Of those that are equal, or differ by a number: the row with the greatest of one has it of all."""
        found: list[Element] = []
        for each in attributes:
            if not any(self._rigid(each, other) for other in found):
                found.append(each)
        return len(found)

    def references(self, owner: Mapping[Element, int], i: int) -> tuple[list[Element], list[Element]]:
        """MaxRef and MinRef of a stream."""
        mine = [each for each in self.index if owner.get(each, -1) == i and not self.bounded(each)]
        others = [each for each in self.index if owner.get(each, i) != i]
        greatest = [y for y in mine if any(self._joins(x, y) for x in others)]
        least = [x for x in mine if any(self._joins(x, y) for y in others)]
        return greatest, least

    def _joins(self, x: Element, y: Element) -> bool:
        """Whether x < y, or x ≤ y, is there and not redundant."""
        more = self._most(x, y)
        if more == inf or self.equal(x, y):
            return False
        return not any(
            self._most(x, z) + self._most(z, y) <= more
            for z in self.index
            if isinstance(z, Constant) or not (self._rigid(x, z) or self._rigid(z, y))
        )
