"""What rows of several inputs must have in common to be joined, and how a plan goes about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from caesura.operators.rows import Rows, quote


@dataclass(frozen=True)
class Condition:
    """SQL over these columns."""

    sql: str
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Conditions:
    """All that must hold between inputs, which are numbered and share no column name."""

    columns: tuple[tuple[str, ...], ...]
    """Of each input."""
    equalities: tuple[tuple[str, str], ...]
    residual: tuple[Condition, ...] = ()

    @cached_property
    def owner(self) -> Mapping[str, int]:
        """Column → the input that has it."""
        return {column: i for i, columns in enumerate(self.columns) for column in columns}

    def owners(self, columns: Iterable[str]) -> set[int]:
        """The inputs that have these columns."""
        return {self.owner[column] for column in columns}

    @cached_property
    def _all(self) -> tuple[Condition, ...]:
        equal = (Condition(f"{quote(a)} = {quote(b)}", frozenset((a, b))) for a, b in self.equalities)
        return (*equal, *self.residual)

    @property
    def sql(self) -> str:
        return _all_of(self._all)

    def matches(self, parts: Mapping[int, Rows | None], start: int) -> Rows | None:
        """The join of a table for each of some inputs, starting at `start` and following the equalities."""
        if any(part is None for part in parts.values()):
            return None
        joined, done = parts[start], {start}
        while left := parts.keys() - done:
            i = min(left.intersection(self._around(done)) or left)
            joined, done = self._joined(joined, parts[i]), done | {i}
        return joined

    def _around(self, done: set[int]) -> list[int]:
        """The inputs that an equality connects with those already joined."""
        pairs = [(self.owner[left], self.owner[right]) for left, right in self.equalities]
        return sorted({j if i in done else i for i, j in pairs if (i in done) != (j in done)})

    def _joined(self, joined: Rows | None, part: Rows | None) -> Rows:
        """One more table, by all conditions whose columns are there now."""
        assert joined is not None
        assert part is not None
        before, now = set(joined.columns), {*joined.columns, *part.columns}
        ready = [each for each in self._all if each.columns <= now and not each.columns <= before]
        return joined.join(part, _all_of(ready) if ready else None)

    def groups(self, inputs: Collection[int]) -> list[frozenset[int]]:
        """These inputs, those together that a condition connects."""
        groups = [frozenset((each,)) for each in inputs]
        for condition in self._all:
            owners = self.owners(condition.columns).intersection(inputs)
            joined = [group for group in groups if group & owners]
            groups = [group for group in groups if not group & owners]
            groups += [frozenset[int]().union(*joined)] if joined else []
        return groups

    def between(self, i: int, group: Collection[int]) -> str:
        """All that is asked of a row of input i and rows of these together, as SQL."""
        return _all_of(
            condition
            for condition in self._all
            if i in (owners := self.owners(condition.columns)) and owners <= {i, *group}
        )


def _all_of(conditions: Iterable[Condition]) -> str:
    return " AND ".join(each.sql for each in conditions) or "true"
