"""ROW_NUMBER, RANK and DENSE_RANK over the rows of a partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from caesura.model.operator import Row, Rows, Slice, State, covered
from caesura.model.sort import Place
from caesura.plan import SortKey
from caesura.punctuation import Punctuation, Range, confined, rank

CAME = "came out"
"""Of an open partition: the number after which its next rows are counted on."""


@dataclass(frozen=True)
class Rank:
    """pass: the rows of each partition that a punctuation confined to its columns matches, with their numbers.
    keep: the other rows, as far as their number is within the limit. prop: those punctuations.

    `passing`: also the rows before which nothing of their partition can come any more, by a punctuation that is
    open to the left in the first key. Then the number that the partition has come to is kept, until it is closed;
    and what lets go of rows is passed on too. The first key rises, and NULL does not come before all others.

    `order` decides the number. Among rows that it leaves equal, ROW_NUMBER goes on by the other keys of `places`.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    places: tuple[SortKey, ...]
    function: str
    result: str
    limit: int | None = None
    passing: bool = False

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        return (), (state[0] + new[0],)

    def pass_(self, state: State) -> Rows:
        (held,) = state
        return tuple(
            row | Row.of({self.result: number})
            for row, number in self.numbered(held.rows)
            if self.final(row, held.punctuations)
        )

    def keep(self, state: State) -> State:
        (held,) = state
        said = held.punctuations
        waiting = (row for row, _ in self.numbered(held.rows) if not self.final(row, said))
        return (Slice((*waiting, *self.counters(held)), said),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        first = self.order[0].column
        return frozenset(
            p
            for p in kept[0].punctuations
            if confined(p, self.partition)
            or (self.passing and confined(p, (*self.partition, first)) and self.begins(p))
        )

    def begins(self, p: Punctuation) -> bool:
        """Whether it speaks of all up to some value of the first key."""
        patterns = (each for name, each in p.patterns if name == self.order[0].column)
        return all(isinstance(each, Range) and each.low is None for each in patterns)

    def final(self, row: Row, said: Iterable[Punctuation]) -> bool:
        """Whether no row of the partition can come before it any more, if `passing`; else none at all."""
        ends = {self.order[0].column: row[self.order[0].column]} if self.passing else {}
        return covered(self.own(row), ends, said)

    def own(self, row: Row) -> dict[str, object]:
        return {name: row[name] for name in self.partition}

    def key(self, row: Row) -> tuple[object, ...]:
        """Equal for rows of one partition: NULL equals NULL."""
        return tuple(rank(row[name]) or row[name] for name in self.partition)

    def numbered(self, held: Rows) -> Iterator[tuple[Row, int]]:
        """The rows with their numbers, up to the limit."""
        for partition in self.partitions(held):
            rows = [row for row in partition if CAME not in row]
            for row, number in self.counted(self.came(partition), rows):
                if self.limit is None or number <= self.limit:
                    yield row, number

    def partitions(self, held: Rows) -> list[list[Row]]:
        found: dict[tuple[object, ...], list[Row]] = {}
        for row in held:
            found.setdefault(self.key(row), []).append(row)
        return list(found.values())

    def came(self, partition: list[Row]) -> int:
        return max((cast(int, row[CAME]) for row in partition if CAME in row), default=0)

    def counted(self, came: int, rows: list[Row]) -> Iterator[tuple[Row, int]]:
        """The number of a row, by the rows of its partition that have not come out."""
        in_order = sorted(rows, key=lambda row: place(row, self.places))
        values: list[tuple[Place, ...]] = []
        for n, row in enumerate(in_order):
            new = not values or values[-1] < place(row, self.order)
            if new:
                values.append(place(row, self.order))
                first = n
            match self.function:
                case "ROW_NUMBER":
                    yield row, came + n + 1
                case "RANK":
                    yield row, came + first + 1
                case _:
                    yield row, came + len(values)

    def counters(self, held: Slice) -> Iterator[Row]:
        """How far the open partitions have come; one whose limit is reached is known by that alone."""
        for partition in self.partitions(held.rows) if self.passing else ():
            out = [(row, n) for row, n in self.numbered(tuple(partition)) if self.final(row, held.punctuations)]
            last = max((n for _, n in out), default=0)
            came = self.came(partition)
            reached = max(came, last) if self.function == "DENSE_RANK" else came + len(out)
            if reached and not covered(self.own(partition[0]), {}, held.punctuations):
                yield Row.of({**self.own(partition[0]), CAME: reached})


def place(row: Row, keys: tuple[SortKey, ...]) -> tuple[Place, ...]:
    return tuple(Place(row[key.column], key) for key in keys)
