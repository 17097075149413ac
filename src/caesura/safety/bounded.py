"""THEORY section 8: which inputs of a join can be kept in bounded memory, whatever comes (Arasu et al.).

The decision is made for each stream by itself, because each may have another proof (section 9). It stands here
twice. `by_orders` is the theorem: a query is the union of its locally totally ordered (LTO) queries, one for each
way in which a stream's attributes and the constants may be ordered, and each of them has to satisfy three
conditions. There are exponentially many. `lacks` is the polynomial test, and the one that runs: the first two
conditions on the query itself, the third on the few orders of at most four attributes at a time.

Where it differs from the paper: x ≤ y is a comparison too, and one that others imply through any element between,
ZERO included, is redundant. Types whose values are not counted have no constants, so only their order matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Literal, TypeAlias

from caesura.safety.comparisons import ZERO, Closure, Constant, Element
from caesura.safety.orders import Bound, Matrix, ordered

Way: TypeAlias = Literal["below", "above"]


@dataclass(frozen=True)
class Reference:
    """An inequality join that nothing else implies: `lesser` is in MinRef of its stream, `greater` in MaxRef of
    its own. `ways`: beyond which constants both may go together. `said`: the conditions that say so."""

    lesser: Element
    greater: Element
    ways: tuple[Way, ...]
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lack:
    """Why a stream needs unbounded memory: `attribute` takes values without end, and they are needed.

    `needed`: in the result or a condition that is asked exactly; in an equality with `other`, a column of another
    stream; or for the order with other streams that `references` say.
    """

    attribute: Element
    ways: tuple[Way, ...]
    needed: Literal["exactly", "equality", "order"]
    other: Element | None = None
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, eq=False)
class Conjunctive:
    """π_L σ_P (S₁ × … × Sₙ): the attributes of each stream that occur in it, and P⁺.

    `exact`: those whose values are needed as they are, in L or in a condition that P⁺ knows nothing of. The others
    matter as they compare. `duplicates`: whether it is told how often a row occurs. If not, `greatest` and `least`
    are needed in the row that has the greatest or the least of them, and `loose` in all rows that are alike.
    """

    streams: tuple[tuple[Element, ...], ...]
    known: Closure
    exact: frozenset[Element] = frozenset()
    duplicates: bool = True
    loose: frozenset[Element] = frozenset()
    greatest: frozenset[Element] = frozenset()
    least: frozenset[Element] = frozenset()
    dense: frozenset[Element] = frozenset()
    """Attributes that no constant is compared with, since their values are not counted."""
    loosened: frozenset[Element] = frozenset()
    """Attributes that P⁺ bounds by what nobody asks of a row of their own stream."""

    @cached_property
    def owner(self) -> dict[Element, int]:
        return {each: i for i, attributes in enumerate(self.streams) for each in attributes}

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """The numbers that attributes are compared with, in order."""
        found = {each.more for each in self.known.comparisons if each.greater == ZERO}
        found |= {-each.more for each in self.known.comparisons if each.lesser == ZERO}
        return tuple(sorted(found))

    @cached_property
    def outermost(self) -> tuple[int, int]:
        """All numbers in the query, or that follow from it, lie between these."""
        return self.known.ends_of(self.owner) or (0, 0)

    @cached_property
    def unbounded(self) -> frozenset[Element]:
        return frozenset(e for e in self.owner if e in self.loosened or not self.known.bounded(e))

    def ways(self, attribute: Element) -> tuple[Way, ...]:
        """Where nothing bounds it."""
        below, above = self.known.ends(attribute) if attribute in self.known.elements else (None, None)
        return _ways(below=below is None, above=above is None)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The inequality joins of the query that are not redundant, and may not be so in one of its orders."""
        return tuple(self._references())

    def _references(self) -> Iterator[Reference]:
        for x, mine in self.owner.items():
            for y in self.known.above(x):
                if self.owner.get(y, mine) == mine or y in self.known.same(x) or not self.unbounded & {x, y}:
                    continue
                # They may go below all constants together if y may, and above them if x may.
                ways = _ways(below="below" in self.ways(y), above="above" in self.ways(x))
                if ways and not self.implied(x, y):
                    yield Reference(x, y, ways, tuple(each.said for each in self.known.path(x, y)))

    def implied(self, x: Element, y: Element) -> bool:
        """Whether an element between the two already says how x ≤ y compare, or numbers do. What lies at a fixed
        distance from one of them stands and falls with it, and so is not between."""
        more = self.known.most(x, y)
        assert more is not None, "they are compared"
        fixed = self.known.rigid(x) | self.known.rigid(y)
        for z, (to, _) in self.known.above(x).items():
            if z == ZERO or z not in fixed:
                on = self.known.most(z, y)
                if on is not None and to + on <= more:
                    return True
        return False


def _ways(*, below: bool, above: bool) -> tuple[Way, ...]:
    found: tuple[tuple[Way, bool], ...] = (("below", below), ("above", above))
    return tuple(way for way, open_ in found if open_)


def lacks(query: Conjunctive) -> dict[int, Lack]:
    """The polynomial test: for each stream that needs unbounded memory, why."""
    if not query.known.satisfiable:
        return {}
    found: dict[int, Lack] = {}
    for each in sorted(query.unbounded, key=str):
        i, ways = query.owner[each], query.ways(each)
        alike = query.known.same(each)
        other = next((y for y, its in query.owner.items() if its != i and y in alike), None)
        if each in query.exact:
            found.setdefault(i, Lack(each, ways, "exactly"))
        elif other is not None:
            found.setdefault(i, Lack(each, ways, "equality", other))
    for i in range(len(query.streams)):
        if i not in found and (lack := _disordered(query, i)) is not None:
            found[i] = lack
    return found


def _disordered(query: Conjunctive, i: int) -> Lack | None:
    """The third condition for one stream."""
    mine = [
        (each, own)
        for each in query.references
        for own in (each.lesser, each.greater)
        if query.owner[own] == i and own in query.unbounded
    ]
    for each, own in mine:
        if query.duplicates or _kept_in_vain(query, i, each):
            return Lack(own, each.ways, "order", references=(each,))
    if not query.duplicates:
        for (one, own), (other, others) in combinations(mine, 2):
            if (own == one.lesser) == (others == other.lesser) and own == others:
                continue
            found = _some_order(query, i, (one, other))
            if found is not None:
                return Lack(own, found[0].ways, "order", references=found)
    return None


def _kept_in_vain(query: Conjunctive, i: int, reference: Reference) -> bool:
    """Whether, in some order, the row that stays for the sake of a reference is not the one that an aggregate
    needs."""
    mine = [each for each in query.streams[i] if each in query.unbounded]
    wanted = (each for each in mine if each in query.greatest or each in query.least)
    return any(each in query.loose for each in mine) or any(
        _some_order(query, i, (reference,), (each,)) is not None for each in wanted
    )


def _some_order(
    query: Conjunctive, i: int, references: tuple[Reference, ...], wanted: tuple[Element, ...] = ()
) -> tuple[Reference, ...] | None:
    """The references, beyond those constants where rows of a stream have to be kept by more than one class of
    attributes, in one of the orders of these attributes alone."""
    attributes = tuple(dict.fromkeys((*(e for r in references for e in (r.lesser, r.greater)), *wanted)))
    start = Matrix.of(query.known, attributes, query.unbounded)
    choices = [() if each in query.dense else query.ways(each) for each in attributes]
    for ways in product(*(several or (None,) for several in choices)):
        placed = start.with_all(_beyond(query, dict(zip(attributes, ways, strict=True))))
        for matrix in ordered(placed, _pairs(query, attributes)):
            if _kept_by(query, matrix, i) > 1:
                of = dict(zip(attributes, ways, strict=True))
                narrowed = ((each, of[each.lesser] or of[each.greater]) for each in references)
                return tuple(each if way is None else replace(each, ways=(way,)) for each, way in narrowed)
    return None


def _beyond(query: Conjunctive, ways: Mapping[Element, Way | None]) -> Iterator[Bound]:
    """Between the constants an attribute is bounded, so that it lies below all of them or above."""
    low, high = query.outermost
    for attribute, way in ways.items():
        if way == "below":
            yield attribute, ZERO, low - 1
        elif way == "above":
            yield ZERO, attribute, -high - 1


def by_orders(query: Conjunctive) -> frozenset[int]:
    """The reference: the streams for which one of the LTO queries does not satisfy the conditions."""
    if not query.known.satisfiable:
        return frozenset()
    attributes = tuple(query.owner)
    constants = tuple(Constant(str(each), each) for each in query.constants)
    start: Matrix | None = Matrix.of(query.known, attributes, query.unbounded).with_constants(constants)
    pairs = [*_pairs(query, attributes), *product((e for e in attributes if e not in query.dense), constants)]
    return frozenset(i for matrix in ordered(start, pairs) for i in _violated(query, matrix))


def _violated(query: Conjunctive, matrix: Matrix) -> Iterator[int]:
    """The streams for which an LTO query, given by its P⁺, breaks a condition."""
    for i, attributes in enumerate(query.streams):
        open_ = [each for each in attributes if not matrix.bounded(each)]
        others = [each for each in query.owner if query.owner[each] != i]
        if (
            any(each in query.exact for each in open_)
            or any(matrix.equal(each, other) for each in open_ for other in others)
            or _kept_by(query, matrix, i) > (0 if query.duplicates else 1)
        ):
            yield i


def _kept_by(query: Conjunctive, matrix: Matrix, i: int) -> int:
    """|MaxRef|eq + |MinRef|eq of a stream in one order; one more if these rows will not do for an aggregate."""
    greatest, least = matrix.references(query.owner, i)
    count = matrix.classes(greatest) + matrix.classes(least)
    own = [each for each in query.streams[i] if each in matrix.index and not matrix.bounded(each)]
    if not query.duplicates and count:
        unfit = (
            any(each in query.loose for each in own)
            or any(each in query.greatest and each not in greatest for each in own)
            or any(each in query.least and each not in least for each in own)
        )
        count += unfit
    return count


def _pairs(query: Conjunctive, attributes: Iterable[Element]) -> list[tuple[Element, Element]]:
    """Those of one stream, which an LTO query orders."""
    return [(x, y) for x, y in combinations(attributes, 2) if query.owner[x] == query.owner[y]]
