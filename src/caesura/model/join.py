"""Inner join of n inputs. The binary join is n = 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from caesura.model.operator import Band, Predicate, Row, Rows, Slice, State, covered
from caesura.model.synopsis import kept
from caesura.plan import Equality
from caesura.punctuation import Punctuation, rank, rename, set_nomatch_punctuations
from caesura.safety.comparisons import Interval
from caesura.safety.synopsis import Synopsis


@dataclass(frozen=True)
class Hop:
    """One step of a chained purge: `input` is reached with its attributes pinned by the row so far.

    `pins` pairs an attribute of `input` with the attribute, of an input visited before, that it must equal;
    `bands` bound others by attributes visited before.
    """

    input: int
    pins: tuple[tuple[str, str], ...]
    bands: tuple[Band, ...] = ()


@dataclass(frozen=True)
class Join:
    """pass: all matches.

    keep: a row of input i, unless along one of `orders[i]` every row of t ⋈ state(X1) ⋈ … ⋈ state(Xk−1) is covered
    by a punctuation of Xk confined to pinned attributes, for every k (THEORY section 5). For n = 2: unless a
    punctuation of the other input, confined to its join attributes, matches the row under the equalities. An
    attribute that is bounded by a band is covered by a pattern that is open to the left and reaches the bound.

    prop: a punctuation of an input that no kept row of that input matches, as it is and also with every join
    attribute written as the first of its class, which downstream operators may know instead.

    `columns` has the attributes of each input; no two inputs share one. An input with a synopsis keeps that
    instead of its rows: results then have of it what the synopsis knows. All that lies outside `intervals` joins
    nothing.
    """

    columns: tuple[tuple[str, ...], ...]
    equalities: tuple[Equality, ...]
    orders: tuple[tuple[tuple[Hop, ...], ...], ...]
    residual: Predicate | None = None
    bands: tuple[Band, ...] = ()
    synopses: tuple[Synopsis | None, ...] = ()
    intervals: tuple[tuple[str, Interval], ...] = ()

    def __post_init__(self) -> None:
        everyone = set(range(len(self.columns)))
        for i, orders in enumerate(self.orders):
            if any({hop.input for hop in order} != everyone - {i} for order in orders):
                raise ValueError(f"an order of input {i} must visit every other input")

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """The equalities closed transitively: attributes that are equal in every result."""
        return classes(self.columns, self.equalities)

    @cached_property
    def first_of_class(self) -> dict[str, str]:
        return {attribute: together[0] for together in self.classes for attribute in together}

    def initial(self) -> State:
        return tuple(Slice() for _ in self.columns)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        """Σk state' ⋈ … ⋈ new k ⋈ … ⋈ state: every match with a new row, once."""
        awaited = tuple(Slice(self.joinable(slice.rows), slice.punctuations) for slice in new)
        grown = tuple(held + arrived for held, arrived in zip(state, awaited, strict=True))
        matches = tuple(
            row
            for k, arrived in enumerate(awaited)
            for row in self.joined([s.rows for s in (*grown[:k], arrived, *state[k + 1 :])])
            if self.residual is None or self.residual(row) is True
        )
        return matches, grown

    def joinable(self, rows: Iterable[Row]) -> Rows:
        """A row with NULL in a join attribute joins nothing, so it is not state."""
        return tuple(
            row
            for row in rows
            if self.agree(row)
            and all(band.holds(row) for band in self.bands)
            and all(within.contains(row[name]) for name, within in self.intervals if name in row)
        )

    def joined(self, parts: Iterable[Iterable[Row]]) -> Rows:
        def extend(rows: Rows, part: Iterable[Row]) -> Rows:
            part = tuple(part)
            return self.joinable(row | other for row in rows for other in part)

        return reduce(extend, parts, (Row(),))

    def agree(self, row: Row) -> bool:
        """The attributes of each class that are in the row so far are equal, hence not NULL."""
        values = dict(row.cells)
        for together in self.classes:
            ranks = {rank(values[attribute]) for attribute in together if attribute in values}
            if len(ranks) > 1 or None in ranks:
                return False
        return True

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        """All inputs are judged against the states before the purge."""
        synopses = self.synopses or (None,) * len(self.columns)
        return tuple(
            Slice(
                tuple(row for row in held.rows if not any(self.purgeable(row, order, state) for order in orders))
                if synopsis is None
                else kept(synopsis, held.rows),
                held.punctuations,
            )
            for held, orders, synopsis in zip(state, self.orders, synopses, strict=True)
        )

    def purgeable(self, row: Row, order: tuple[Hop, ...], state: State) -> bool:
        """No future row of any input can be part of a result with this one."""
        so_far: Rows = (row,)
        for hop in order:
            other = state[hop.input]
            if not all(self.covered(partial, hop, other.punctuations) for partial in so_far):
                return False
            so_far = self.joined([so_far, other.rows])
        return True

    def covered(self, row: Row, hop: Hop, punctuations: Iterable[Punctuation]) -> bool:
        partner = {theirs: row[ours] for theirs, ours in hop.pins}
        return covered(partner, {band.column: band.end(row) for band in hop.bands}, punctuations)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        due = frozenset[Punctuation]().union(
            *(set_nomatch_punctuations(held.rows, held.punctuations) for held in kept)
        )
        rewritten = (rename(p, self.first_of_class) for p in due)
        return due.union(p for p in rewritten if p is not None)


def classes(columns: Sequence[Sequence[str]], equalities: Iterable[Equality]) -> tuple[tuple[str, ...], ...]:
    """Classes of equal attributes, each in the order of `columns`."""
    found: list[set[str]] = []
    for equality in equalities:
        pair = {equality.left, equality.right}
        joining = [together for together in found if together & pair]
        found = [together for together in found if not together & pair] + [pair.union(*joining)]
    return tuple(tuple(a for names in columns for a in names if a in together) for together in found)


def hops(
    columns: Sequence[Sequence[str]],
    equalities: Iterable[Equality],
    orders: Sequence[Sequence[Sequence[int]]],
    bands: Sequence[Band] = (),
) -> tuple[tuple[tuple[Hop, ...], ...], ...]:
    """The chains that visit, for input i, the others as one of `orders[i]` says, with every pin there is."""
    together = classes(columns, equalities)

    def chain(start: int, order: Sequence[int]) -> Iterable[Hop]:
        visited = list(columns[start])
        for other in order:
            pins = (
                (theirs, next((ours for ours in visited if ours in equals), None))
                for equals in together
                for theirs in columns[other]
                if theirs in equals
            )
            bounds = (band for band in bands if band.column in columns[other] and band.by in visited)
            yield Hop(other, tuple((theirs, ours) for theirs, ours in pins if ours is not None), tuple(bounds))
            visited.extend(columns[other])

    return tuple(tuple(tuple(chain(i, order)) for order in several) for i, several in enumerate(orders))
