"""Tables as relational expressions: SQL over tables of Spark, put together without asking it.

A DataFrame is analysed at every step, and every name in it travels to the JVM by itself; for the hundred steps of
a slice that took longer than the slice's tasks (decision 0007). `Rows` are put together as text, and a whole job
becomes one statement that Spark analyses once.

The driver learns from counts which tables hold nothing. `None` stands for such a table, so that a term that
cannot give a row is left out of the plan instead of being executed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from caesura.operators.plans import Table, plans_of

Ends: TypeAlias = tuple[int, int]
"""The least and the greatest of some values, as numbers."""

_CHUNK = 4096
"""Rows are repeated so many at a time."""
_NOTHING = "1 AS `no column`"
"""What SQL wants to see in the place of no column at all."""
_EQUALITY = re.compile(r"^USING|<=>|(?<![<>!])=")
"""In the condition of a join: Spark can look rows up by their values."""
_ALIAS = "AS `the rows`"
"""Without one, Spark takes the WHERE of `FROM t WHERE (flag)` for an alias with a list of columns."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table: a query whose `parts` are SQL and the tables it reads, or a leaf of such queries."""

    columns: tuple[str, ...]
    parts: tuple[str | Rows | _Hint, ...]
    small: bool = False
    """Whether it is to be sent to every executor when joined; otherwise Spark decides."""
    leaf: Table | str | None = None
    """Instead of parts: a table that Spark has, or a query of constants."""
    selection: _Selection | None = None
    """The query's own terms, if it is a simple one: what reads it can then become one query with it."""
    ranges: Mapping[str, Ends] = field(default_factory=dict)
    """Columns of which the driver knows between which ends all values are that are not NULL (as
    `intervals.number` counts them)."""
    filled: frozenset[str] = frozenset()
    """Columns of which the driver knows that they have no NULL."""

    def project(self, outputs: Mapping[str, str]) -> Rows:
        """Column → SQL over the columns of these rows."""
        same = {quote(name): name for name in self.columns}
        known = self._known({name: same[sql] for name, sql in outputs.items() if sql in same})
        if self.selection is not None and self.selection.unchanged:
            return self.selection.rows._selected(outputs, known, self.selection.condition)
        return self._selected(outputs, known)

    def extended(self, outputs: Mapping[str, str]) -> Rows:
        """The same with more columns."""
        return self.project({**{name: quote(name) for name in self.columns}, **outputs})

    def exploded(self, arrays: Mapping[str, str]) -> Rows:
        """Column → an array: a row for every choice of one element from each."""
        named = {name: f"array_{i}" for i, name in enumerate(arrays)}
        chosen = ", ".join(f"{array}.{quote(name)}" for name, array in named.items())
        generators = (f" LATERAL VIEW explode({sql}) {named[n]} AS {quote(n)}" for n, sql in arrays.items())
        return Rows(tuple(arrays), (f"SELECT {chosen} FROM ", self, " AS mine", *generators), self.small)

    def computing(self, name: str, sql: str) -> Rows:
        """The same with one more column, which is computed once for each row: what a projection computes, Spark
        would put in the place of each reader, a WHERE and what is above it."""
        columns = (*self.columns, name)
        view = f" AS mine LATERAL VIEW explode(array({sql})) computed AS {quote(name)}"
        parts = (f"SELECT {_list(columns)} FROM ", self, view)
        return Rows(columns, parts, self.small, ranges=self.ranges, filled=self.filled)

    def repeated(self, outputs: Mapping[str, str], times: str) -> Rows:
        """Column → SQL, each row so many times. Two steps, because the arrays that Spark explodes have to fit."""
        counted = self.project({**outputs, "times": times})
        chosen = ", ".join(f"mine.{quote(name)}" for name in outputs) or _NOTHING
        chunk = f"explode(sequence(0L, (mine.times - 1L) div {_CHUNK}L)) chunks AS chunk"
        one = f"explode(sequence(1L, least({_CHUNK}L, mine.times - chunks.chunk * {_CHUNK}L))) ones AS one"
        parts = (
            f"SELECT {chosen} FROM ",
            counted,
            f" AS mine LATERAL VIEW {chunk} LATERAL VIEW {one} WHERE mine.times > 0L",
        )
        ranges = {name: ends for name, ends in counted.ranges.items() if name in outputs}
        return Rows(tuple(outputs), parts, ranges=ranges)

    def renamed(self, names: Mapping[str, str]) -> Rows:
        """The columns of `names`, each under its new name; the others are dropped."""
        known = self._known({new: old for old, new in names.items()})
        if self.selection is not None:
            outputs = {new: self.selection.outputs[old] for old, new in names.items()}
            return self.selection.rows._selected(outputs, known, self.selection.condition)
        return self._selected({new: quote(old) for old, new in names.items()}, known)

    def only(self, names: Iterable[str]) -> Rows:
        """These columns, in this order."""
        return self.renamed({name: name for name in names})

    def without(self, *names: str) -> Rows:
        return self.only(name for name in self.columns if name not in names)

    def where(self, *condition: str | Rows) -> Rows:
        """A condition may have queries of one row in it."""
        if self.selection is not None and self.selection.unchanged:
            both = condition
            if self.selection.condition:
                both = ("(", *self.selection.condition, ") AND (", *condition, ")")
            return self.selection.rows._selected(self.selection.outputs, self._known(), both)
        return self._selected({name: quote(name) for name in self.columns}, self._known(), condition)

    def _known(self, names: Mapping[str, str] | None = None) -> _Known:
        """What is known of columns that are called otherwise: new name → name."""
        if names is None:
            return _Known(self.ranges, self.filled)
        ranges = {new: self.ranges[old] for new, old in names.items() if old in self.ranges}
        return _Known(ranges, frozenset(new for new, old in names.items() if old in self.filled))

    def _selected(self, outputs: Mapping[str, str], known: _Known, condition: tuple[str | Rows, ...] = ()) -> Rows:
        where = (f" {_ALIAS} WHERE ", *condition) if condition else ()
        parts = (f"SELECT {_named(outputs)} FROM ", self, *where)
        selection = _Selection(self, outputs, condition)
        return Rows(
            tuple(outputs), parts, self.small, selection=selection, ranges=known.ranges, filled=known.filled
        )

    def filling(self, names: Iterable[str]) -> Rows:
        """The same, of which it is known that these columns have no NULL."""
        return replace(self, filled=self.filled | frozenset(names))

    def ranging(self, ranges: Mapping[str, Ends]) -> Rows:
        """The same, of which this is known too."""
        known = {name: ends for name, ends in ranges.items() if name in self.columns}
        return replace(self, ranges={**self.ranges, **known}) if known else self

    def present(self, names: Iterable[str]) -> Rows:
        """The rows without NULL in these columns."""
        several = tuple(names)
        conditions = [f"{quote(name)} IS NOT NULL" for name in several]
        return self.where(" AND ".join(conditions)).filling(several) if conditions else self

    def distinct(self) -> Rows:
        parts = (f"SELECT DISTINCT {_list(self.columns)} FROM ", self)
        return Rows(self.columns, parts, self.small, ranges=self.ranges)

    def gathered(self, places: int = 1) -> Rows:
        """The same in so few places: to have a task for each part would take longer than to read it."""
        parts = (f"SELECT /*+ COALESCE({places}) */ {_list(self.columns)} FROM ", self)
        return Rows(self.columns, parts, self.small, ranges=self.ranges)

    def ordered(self, keys: Iterable[str]) -> Rows:
        """In this order, for whoever writes or shows them as they are."""
        return Rows(self.columns, (f"SELECT {_list(self.columns)} FROM ", self, f" ORDER BY {', '.join(keys)}"))

    def beyond(self, other: Rows) -> Rows:
        """The rows that the other table does not hold, each once. NULL is a value like any other."""
        listed = _list(self.columns)
        parts = (f"SELECT {listed} FROM ", self, f" EXCEPT SELECT {listed} FROM ", other)
        return Rows(self.columns, parts, ranges=self.ranges)

    def less(self, other: Rows) -> Rows:
        """The rows without those of the other table, of which each takes away one."""
        listed = _list(self.columns)
        parts = (f"SELECT {listed} FROM ", self, f" EXCEPT ALL SELECT {listed} FROM ", other)
        return Rows(self.columns, parts, ranges=self.ranges)

    def join(self, other: Rows, condition: str | None) -> Rows:
        """Inner join of tables that share no column name."""
        kind = "CROSS JOIN" if condition is None else "JOIN"
        return self._joined(other, kind, f"ON {condition}" if condition else "", self.columns + other.columns)

    def matching(self, other: Rows, names: Iterable[str], *, negated: bool = False) -> Rows:
        """The rows that agree with some row of the other table in these columns, or with none."""
        listed = ", ".join(map(quote, names))
        return self._filtered(other, f"USING ({listed})" if listed else "ON true", negated)

    def alike(self, other: Rows, names: Iterable[str], *, negated: bool = False) -> Rows:
        """The same, where NULL agrees with NULL."""
        theirs = {name: f"other {name}" for name in names}
        same = " AND ".join(f"{quote(name)} <=> {quote(their)}" for name, their in theirs.items())
        return self.matching_on(other.renamed(theirs), same or "true", negated=negated)

    def matching_on(self, other: Rows, condition: str, *, negated: bool = False) -> Rows:
        """The same by a condition; the tables share no column name."""
        return self._filtered(other, f"ON {condition}", negated)

    def _filtered(self, other: Rows, on: str, negated: bool) -> Rows:
        kind = "LEFT ANTI JOIN" if negated else "LEFT SEMI JOIN"
        return self._joined(other, kind, on, self.columns).filling(self.filled)

    def _joined(self, other: Rows, kind: str, on: str, columns: tuple[str, ...]) -> Rows:
        sent = "/*+ BROADCAST(other) */ " if other.small else ""
        hint = _Hint(sent, "/*+ SHUFFLE_HASH(mine, other) */ " if _EQUALITY.search(on) else sent)
        chosen = f"{_list(columns)} FROM "
        parts = ("SELECT ", hint, chosen, self, f" AS mine {kind} ", other, f" AS other {on}")
        added = set(columns).difference(self.columns)  # by an anti join nothing, and it is not where the other is
        theirs = {name: ends for name, ends in other.ranges.items() if name in added}
        return Rows(columns, parts, ranges={**self.ranges, **theirs})

    def grouped(self, keys: Iterable[str], outputs: Mapping[str, str]) -> Rows:
        """One row per group, and none where there are no rows, even without keys."""
        names = tuple(keys)
        columns = {**{name: quote(name) for name in names}, **outputs}
        group = f" GROUP BY {_list(names)}" if names else " HAVING count(*) > 0"
        ranges = {name: ends for name, ends in self.ranges.items() if name in names and name not in outputs}
        return Rows(tuple(columns), (f"SELECT {_named(columns)} FROM ", self, group), ranges=ranges)

    def summary(self, outputs: Mapping[str, str]) -> Rows:
        """The one row of aggregates over all rows."""
        return Rows(tuple(outputs), (f"SELECT {_named(outputs)} FROM ", self))

    def statement(self, *, in_place: bool = False) -> tuple[str, dict[str, Table | str]]:
        """SQL, and the tables that it names. A query that is read more than once is named once. `in_place`: all
        that it reads is in one place, so that joins need not bring it together."""
        uses = Counter[Rows]()
        _count(self, uses)
        named: dict[Rows, str] = {}
        steps: list[str] = []
        leaves: dict[str, Table | str] = {}

        def query(rows: Rows) -> str:
            return "".join(map(written, rows.parts))

        def written(part: str | Rows | _Hint) -> str:
            match part:
                case str():
                    return part
                case Rows():
                    return reference(part)
                case _Hint():
                    return part.in_place if in_place else part.everywhere

        def reference(rows: Rows) -> str:
            if rows.leaf is not None:
                if rows not in named:
                    named[rows] = f"table_{len(leaves) + 1}"
                    leaves[named[rows]] = rows.leaf
                return named[rows]
            if uses[rows] == 1:
                return f"({query(rows)})"
            if rows not in named:
                body = query(rows)
                named[rows] = f"step_{len(steps) + 1}"
                steps.append(f"{named[rows]} AS ({body})")
            return named[rows]

        body = f"SELECT {_list(self.columns)} FROM {reference(self)}" if self.leaf is not None else query(self)
        return f"WITH {', '.join(steps)} {body}" if steps else body, leaves

    def frame(self, spark: SparkSession) -> DataFrame:
        read = Counter[Rows]((self,))
        _count(self, read)
        leaves = (rows.leaf for rows in read if rows.leaf is not None)
        return plans_of(spark).frame(leaves, lambda in_place: self.statement(in_place=in_place))


@dataclass(frozen=True)
class _Hint:
    """How tables are joined."""

    everywhere: str
    in_place: str


@dataclass(frozen=True)
class _Known:
    """What the driver knows of columns."""

    ranges: Mapping[str, Ends]
    filled: frozenset[str]


@dataclass(frozen=True)
class _Selection:
    rows: Rows
    outputs: Mapping[str, str]
    condition: tuple[str | Rows, ...]

    @property
    def unchanged(self) -> bool:
        """Whether all columns are those that were read, so that a condition may be asked before as well."""
        return all(sql == quote(name) for name, sql in self.outputs.items())


def _count(rows: Rows, uses: Counter[Rows]) -> None:
    for part in rows.parts:
        if isinstance(part, Rows):
            uses[part] += 1
            if uses[part] == 1:
                _count(part, uses)


def leaf(frame: DataFrame, files: int = 0) -> Rows:
    """A DataFrame, to be read by statements. `files`: as `Table` has it."""
    return made(tuple(frame.columns), lambda: frame, files)


def made(columns: tuple[str, ...], make: Callable[[], DataFrame], files: int = 0) -> Rows:
    """The same, made when the first statement reads it."""
    return Rows(columns, (), leaf=Table(make, files))


_FEW = 1_000_000


def sent(rows: Rows, count: int) -> Rows:
    """A table of so many rows: few are sent to every executor when joined; of many Spark is to decide."""
    return replace(rows, small=count <= _FEW)


def local(columns: tuple[str, ...], rows: Iterable[Iterable[str]]) -> Rows:
    """A table of constants. They are data to Spark, not code: other constants need no new code."""
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    names = ", ".join(map(quote, columns))
    return Rows(columns, (), leaf=f"SELECT {names} FROM VALUES {listed} AS constants({names})")


def values(outputs: Mapping[str, str]) -> Rows:
    """The one row of these constants."""
    return Rows(tuple(outputs), (f"SELECT {_named(outputs)}",))


def union(tables: Iterable[Rows | None]) -> Rows | None:
    """All rows of the tables that hold any, matched by column name; a column that one lacks is NULL there."""
    present = [rows for rows in tables if rows is not None]
    if len(present) <= 1:
        return present[0] if present else None
    columns = tuple(dict.fromkeys(name for rows in present for name in rows.columns))
    parts: list[str | Rows] = []
    for rows in present:
        chosen = {name: quote(name) if name in rows.columns else "NULL" for name in columns}
        parts += [" UNION ALL " if parts else "", f"SELECT {_named(chosen)} FROM ", rows]
    small = all(rows.small for rows in present)
    filled = frozenset.intersection(*(rows.filled for rows in present))
    return Rows(columns, tuple(parts), small, ranges=hull(rows.ranges for rows in present), filled=filled)


def hull(several: Iterable[Mapping[str, Ends]]) -> dict[str, Ends]:
    """The ends of all together, as far as they are known of each."""
    ends: dict[str, list[Ends]] = {}
    tables = list(several)
    for table in tables:
        for name, known in table.items():
            ends.setdefault(name, []).append(known)
    return {
        name: (min(first for first, _ in known), max(last for _, last in known))
        for name, known in ends.items()
        if len(known) == len(tables)
    }


def quote(name: str) -> str:
    """A column name as one Spark SQL identifier: plan names contain dots."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A text as an SQL literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _named(outputs: Mapping[str, str]) -> str:
    """What has its name already is not given it again: between functions with OVER, Spark's optimiser takes such
    aliases out and fails."""
    return ", ".join(_item(name, sql) for name, sql in outputs.items()) or _NOTHING


def _item(name: str, sql: str) -> str:
    return sql if sql == quote(name) else f"{sql} AS {quote(name)}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(quote, names)) or _NOTHING
