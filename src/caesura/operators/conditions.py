"""What rows of several inputs must have in common to be joined, and how a plan goes about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from caesura.operators.rows import Rows, quote, union


@dataclass(frozen=True)
class Condition:
    """SQL over these columns."""

    sql: str
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Conditions:
    """All that must hold between inputs, which are numbered and share no column name.

    Equalities that others imply hold as well. They are asked for where those others cannot be, because an input
    between is not there.
    """

    columns: tuple[tuple[str, ...], ...]
    """Of each input."""
    equalities: tuple[tuple[str, str], ...]
    residual: tuple[Condition, ...]
    classes: tuple[frozenset[str], ...]
    """Of columns that are equal wherever rows meet, whatever makes them so: equalities, what they imply, and what
    an input's rows have in common among themselves."""

    @cached_property
    def owner(self) -> Mapping[str, int]:
        """Column → the input that has it."""
        return {column: i for i, columns in enumerate(self.columns) for column in columns}

    def owners(self, columns: Iterable[str]) -> set[int]:
        """The inputs that have these columns."""
        return {self.owner[column] for column in columns}

    @property
    def sql(self) -> str:
        return _all_of((*(_equal(a, b) for a, b in self.equalities), *self.residual))

    def _between(self, some: Collection[str], others: Collection[str]) -> Iterator[Condition]:
        """All that must hold between these columns and those: what was written, and of each class without that one
        equality that it implies."""
        written = [
            (a, b) for a, b in self.equalities if (a in some and b in others) or (b in some and a in others)
        ]
        yield from (_equal(a, b) for a, b in written)
        for together in self.classes:
            mine, theirs = (sorted(together.intersection(each)) for each in (some, others))
            if mine and theirs and not any(together.issuperset(pair) for pair in written):
                yield _equal(mine[0], theirs[0])
        every = {*some, *others}
        for condition in self.residual:
            if condition.columns <= every and not condition.columns.isdisjoint(others):
                yield condition

    def matches(self, parts: Mapping[int, Rows | None], start: int) -> Rows | None:
        """The join of tables, each of some inputs, beginning with the one at `start` and following the
        equalities."""
        left = {number: part for number, part in parts.items() if part is not None}
        if len(left) < len(parts):
            return None
        joined = left.pop(start)
        while left:
            near = (number for number, part in left.items() if self._equated(joined.columns, part.columns))
            joined = self._joined(joined, left.pop(min(near, default=min(left))))
        return joined

    def added(
        self, old: Sequence[Rows | None], new: Sequence[Rows | None], columns: Collection[str]
    ) -> Rows | None:
        """Σₖ old′ ⋈ … ⋈ newₖ ⋈ … ⋈ old: what new rows are joined to, tables before k with and those after
        k without theirs.

        Tables that held nothing come last. Every result has a new row of them, so that the terms of all others,
        which lack it, are empty.
        """
        parts, terms = [*old], list[Rows | None]()
        for k in sorted(range(len(parts)), key=lambda k: old[k] is None):
            parts[k] = new[k]
            terms.append(self.matches(dict(enumerate(parts)), start=k))
            parts[k] = union((old[k], new[k]))
        return union(None if term is None else term.only(columns) for term in terms)

    def _equated(self, some: Collection[str], others: Collection[str]) -> bool:
        """Whether an equality that was written connects these columns with those."""
        return any((a in some and b in others) or (b in some and a in others) for a, b in self.equalities)

    def _joined(self, joined: Rows, part: Rows) -> Rows:
        """One more table, by all conditions whose columns are there now."""
        ready = tuple(self._between(joined.columns, part.columns))
        return joined.join(part, _all_of(ready) if ready else None)

    def groups(self, i: int, inputs: Collection[int]) -> list[frozenset[int]]:
        """These inputs, those together that are connected by more than what each has in common with input i: what
        is equal to one of its columns is equal anyway."""
        groups = [frozenset((each,)) for each in inputs]
        mine = [each for each in self.classes if not each.isdisjoint(self.columns[i])]
        apart = (each for each in self.classes if each not in mine)
        written = (pair for pair in self.equalities if not any(each.issuperset(pair) for each in mine))
        for columns in (*written, *(each.columns for each in self.residual), *apart):
            owners = self.owners(columns).intersection(inputs)
            joined = [group for group in groups if group & owners]
            groups = [group for group in groups if not group & owners]
            groups += [frozenset[int]().union(*joined)] if joined else []
        return groups

    def connected(self, tables: Iterable[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
        """Tables of some inputs each, those together that something compares."""
        columns = {inputs: [name for i in inputs for name in self.columns[i]] for inputs in tables}
        groups: list[list[tuple[int, ...]]] = []
        for inputs, mine in columns.items():
            near = [
                group
                for group in groups
                if self.comparing(mine, [name for other in group for name in columns[other]]) is not None
            ]
            groups = [group for group in groups if group not in near]
            groups.append([*(each for group in near for each in group), inputs])
        return groups

    def between(self, i: int, group: Collection[int]) -> str:
        """All that is asked of a row of input i and rows of these together, as SQL."""
        others = [column for j in group for column in self.columns[j]]
        return _all_of(self._between(others, self.columns[i]))

    def comparing(self, columns: Collection[str], others: Collection[str]) -> str | None:
        """What compares a row with these columns and one with those; None if nothing does."""
        asked = [each for each in self._between(others, columns) if not each.columns <= set(columns)]
        return _all_of(asked) if asked else None


def _equal(one: str, other: str) -> Condition:
    return Condition(f"{quote(one)} = {quote(other)}", frozenset((one, other)))


def _all_of(conditions: Iterable[Condition]) -> str:
    return " AND ".join(each.sql for each in conditions) or "true"
