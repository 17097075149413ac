"""Functions over the rows before each row: `SUM(x) OVER (PARTITION BY k ORDER BY t ROWS 3 PRECEDING)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from caesura.model.aggregates import result
from caesura.model.operator import Row, Rows, Slice, State, covered
from caesura.model.sort import Sort
from caesura.plan import Aggregate, Framed, SortKey
from caesura.punctuation import Punctuation, Range, confined, rank


@dataclass(frozen=True)
class Frame:
    """pass: a row, when nothing can come any more that belongs before it or beside it, by a punctuation on its
    partition: on all of it or, with `passing`, on all up to some value of the first order key. prop: those
    punctuations.

    keep: the rows that are not out and, of the others, those that the frame of a later row can reach. What frames
    without a beginning reach, all rows of the partitions that are open, is kept apart: how much less will do is
    not the model's question.

    `places` is the order of the rows of a partition, of which `order` are the keys that the query names; what
    these leave equal ends a range together. With `passing` the first of them rises, and NULL does not come before
    all others: of it no bound says that none comes.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    places: tuple[SortKey, ...]
    functions: tuple[Framed, ...]
    passing: bool = False

    def initial(self) -> State:
        return (Slice(), Slice(), Slice())

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        waiting, *out = state
        return (), (waiting + new[0], *out)

    def pass_(self, state: State) -> Rows:
        waiting, recent, earlier = state
        due = self.due(waiting)
        found: list[Row] = []
        for key in dict.fromkeys(map(self.key, due)):
            mine = self.of_partition(key, due)
            results: dict[str, list[object]] = {}
            for each in self.functions:
                before = self.of_partition(key, (earlier if each.preceding is None else recent).rows)
                rows = self.in_order((*before, *mine))
                results[each.result.name] = [self.value(each, rows, i) for i in range(len(before), len(rows))]
            found += (
                row | Row.of({name: values[i] for name, values in results.items()})
                for i, row in enumerate(self.in_order(mine))
            )
        return tuple(found)

    def keep(self, state: State) -> State:
        waiting, recent, earlier = state
        said, due = waiting.punctuations, self.due(waiting)
        rest = tuple(row for row in waiting.rows if not self.passed(row, said))
        out = tuple(row for row in recent.rows + due if not self.closed(row, said))
        whole = any(each.preceding is None for each in self.functions)
        all_out = tuple(row for row in earlier.rows + due if whole and not self.closed(row, said))
        return (Slice(rest, said), Slice(self.reached(out, said)), Slice(all_out))

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return frozenset(filter(self.speaks, kept[0].punctuations))

    def speaks(self, p: Punctuation) -> bool:
        """Whether it is of whole partitions or, with `passing`, of all their first rows."""
        first = self.order[0].column
        begins = all(isinstance(each, Range) and each.low is None for name, each in p.patterns if name == first)
        return confined(p, self.partition) or (self.passing and begins and confined(p, (*self.partition, first)))

    def due(self, waiting: Slice) -> Rows:
        return tuple(row for row in waiting.rows if self.passed(row, waiting.punctuations))

    def passed(self, row: Row, said: Iterable[Punctuation], more: int = 0) -> bool:
        """Whether no row of its partition comes any more up to its place, or so much further."""
        if not self.passing:
            return self.closed(row, said)
        value = row[self.order[0].column]
        end = value + more if isinstance(value, int | float) else value
        return covered(self.own(row), {self.order[0].column: end}, said)

    def closed(self, row: Row, said: Iterable[Punctuation]) -> bool:
        """Whether no row of its partition comes any more."""
        return covered(self.own(row), {}, said)

    def own(self, row: Row) -> dict[str, object]:
        return {name: row[name] for name in self.partition}

    def reached(self, out: Rows, said: Iterable[Punctuation]) -> Rows:
        """The rows that frames with a beginning can reach from rows that are not out."""
        back = [each for each in self.functions if each.reaches_back]
        count = max((_distance(each) for each in back if each.preceding and each.unit == "rows"), default=0)
        far = max((_distance(each) for each in back if each.preceding and each.unit == "range"), default=0)
        found: list[Row] = []
        for key in dict.fromkeys(map(self.key, out)):
            rows = self.in_order(self.of_partition(key, out))
            last = max(len(rows) - count, 0)
            found += (row for i, row in enumerate(rows) if i >= last or (far and not self.passed(row, said, far)))
        return tuple(found)

    def value(self, each: Framed, rows: Sequence[Row], i: int) -> object:
        """A function over the frame of the i-th row."""
        if each.function == "LAG":
            value, *otherwise = each.arguments
            start = i - _distance(each)
            return rows[start][value] if start >= 0 else rows[i][otherwise[0]] if otherwise else None
        frame = [row for j, row in enumerate(rows) if self.in_frame(each, rows, i, j)]
        if each.function in _CHOSEN:
            (value,) = each.arguments
            values = [row[value] for row in frame if row[value] is not None or not each.ignore_nulls]
            return _CHOSEN[each.function](values) if values else None
        given = [tuple(row[name] for name in each.arguments) for row in frame]
        return result(Aggregate(each.result, each.function, each.arguments), given)

    def in_frame(self, each: Framed, rows: Sequence[Row], i: int, j: int) -> bool:
        """Whether the frame of the i-th row holds the j-th."""
        if each.unit == "rows":
            return j <= i and (each.preceding is None or i - j <= _distance(each))
        if self.beside(rows[i], rows[j]):
            return True
        if each.preceding is None or j > i:
            return j < i
        own, other = (row[self.order[0].column] for row in (rows[i], rows[j]))
        if not isinstance(own, int | float) or not isinstance(other, int | float):
            return False  # only NULLs are near a NULL
        return abs(own - other) <= _distance(each)

    def beside(self, one: Row, other: Row) -> bool:
        return all(rank(one[key.column]) == rank(other[key.column]) for key in self.order)

    def key(self, row: Row) -> tuple[object, ...]:
        """Equal for rows of one partition: as `rank`, but NULL equals NULL."""
        return tuple(rank(row[name]) or row[name] for name in self.partition)

    def of_partition(self, key: tuple[object, ...], rows: Rows) -> Rows:
        return tuple(row for row in rows if self.key(row) == key)

    def in_order(self, rows: Iterable[Row]) -> list[Row]:
        return sorted(rows, key=Sort(self.places).place)


def _distance(each: Framed) -> int:
    assert isinstance(each.preceding, int), "the model counts in whole numbers"
    return each.preceding


_CHOSEN: dict[str, Callable[[list[object]], object]] = {
    "FIRST_VALUE": lambda values: values[0],
    "LAST_VALUE": lambda values: values[-1],
}
