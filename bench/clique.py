"""The workload of the demand paper: streams of which each pair is compared on a column of its own, in windows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import duckdb

from caesura.testing.slices import FIRST_MODIFIED

Tree: TypeAlias = "str | tuple[Tree, Tree]"
"""A stream, or what two trees give, joined."""

NAMES = "abcdefgh"
BUSHY: dict[int, Tree] = {
    4: (("a", "b"), ("c", "d")),
    5: ((("a", "b"), ("c", "d")), "e"),
    6: ((("a", "b"), ("c", "d")), ("e", "f")),
    7: ((("a", "b"), ("c", "d")), (("e", "f"), "g")),
    8: ((("a", "b"), ("c", "d")), (("e", "f"), ("g", "h"))),
}
"""Table II of the paper, by the number of streams."""
SELECTIVE = 100
"""In a left-deep plan one stream has so many times more values than those that it is compared with."""
PLANTED = 500
"""For so many rows of each stream there is one more that has partners in all the others."""


def left_deep(streams: int) -> Tree:
    tree: Tree = NAMES[0]
    for stream in NAMES[1:streams]:
        tree = tree, stream
    return tree


def leaves(tree: Tree) -> str:
    return tree if isinstance(tree, str) else "".join(map(leaves, tree))


def written_out(tree: Tree) -> str:
    """As a hint has it."""
    return tree if isinstance(tree, str) else f"({', '.join(map(written_out, tree))})"


def below(tree: Tree) -> Iterator[Tree]:
    """The joins below the last one: each makes partial results."""
    for part in () if isinstance(tree, str) else tree:
        if not isinstance(part, str):
            yield part
            yield from below(part)


@dataclass(frozen=True)
class Clique:
    """`rate` is in rows per second, `window` and `slice` in seconds. There are `scale` copies of it, which differ
    in all their values and so never meet: whatever is expected of one is expected of each."""

    tree: Tree
    rate: float
    window: float
    dmax: int
    scale: int
    slice: float
    slices: int
    selective: str | None = None
    """The stream with values from so many times as large a range."""

    @property
    def names(self) -> str:
        return "".join(sorted(leaves(self.tree)))

    @property
    def partners(self) -> float:
        """What a row expects of one stream and condition."""
        return self.rate * self.window / self.dmax

    @property
    def rows_per_slice(self) -> int:
        """Of each stream."""
        return round(self.rate * self.slice * self.scale)

    # The query

    def columns(self, name: str) -> list[str]:
        return [_column(name, other) for other in self.names if other != name]

    def query(self, hint: str = "") -> str:
        window = f"[RANGE INTERVAL {self.window:g} SECONDS]"
        first = self.names[0]
        joins = [f"FROM {first} {window} AS {first}"]
        for number, name in enumerate(self.names[1:], 1):
            before = self.names[:number]
            joins.append(
                f"JOIN {name} {window} AS {name} ON {' AND '.join(_equal(each, name) for each in before)}"
            )
        times = ", ".join(f"{name}.t AS {name}_t" for name in self.names)
        return "\n".join((f"SELECT {hint} {times}", *joins))

    def declared(self, directory: Path) -> str:
        """With the true figures of one copy, for the planner: of all copies together it would take the columns of
        a row to be independent, which they are within a copy only."""
        return "\n".join(
            f"CREATE STREAM {name} ({', '.join(f'{each} BIGINT' for each in self.columns(name))}, t TIMESTAMP,"
            f" ORDERED BY (t)) USING parquet LOCATION '{directory / name}'"
            f" OPTIONS (maxFilesPerTrigger 1, rate {self.rate:g}, distinct '{self._distinct(name)}');"
            for name in self.names
        )

    def pipeline(self, directory: Path, hint: str = "") -> str:
        return f"{self.declared(directory)}\n{self.query(hint)};"

    def _distinct(self, name: str) -> str:
        return ", ".join(f"{column} {self._values(name)}" for column in self.columns(name))

    def _values(self, name: str) -> int:
        return self.dmax * (SELECTIVE if name == self.selective else 1)

    # The rows

    def write(self, directory: Path, seed: int) -> Counts:
        """One file per stream and slice; what is to be expected of the rows, found by DuckDB."""
        shutil.rmtree(directory, ignore_errors=True)
        with duckdb.connect() as database:
            database.execute(f"SET threads = {os.cpu_count()}")
            for name in self.names:
                database.execute(f"CREATE TABLE {name} AS {self._rows(name, seed)}")
                self._write(database, name, directory / name)
            return Counts(
                {leaves(part): self._count(database, leaves(part)) for part in below(self.tree)},
                self._count(database, self.names),
            )

    def _rows(self, name: str, seed: int) -> str:
        """The paper's rows, evenly in time, and the planted ones: a group of them, one of each stream, has a value
        of its own in all columns, and comes within a window."""
        rows, length = self.slices * self.rows_per_slice, self.slices * self.slice
        copy = self.dmax * (SELECTIVE if self.selective else 1)
        spread = min(self.window, length / 2)
        groups = max(1, rows // PLANTED)
        drawn = ", ".join(
            f"i % {self.scale} * {copy} + 1"
            f" + (hash(i, '{name}', '{column}', {seed}) % {self._values(name)})::BIGINT AS {column}"
            for column in self.columns(name)
        )
        same = ", ".join(f"-1 - i AS {column}" for column in self.columns(name))
        within = f"hash(i, '{name}', {seed}) % 1000000 / 1e6 * {spread}"
        return f"""
        SELECT *, to_timestamp({FIRST_MODIFIED} + second) AS t, floor(second / {self.slice})::INT AS slice FROM (
            SELECT i * {length} / {rows} AS second, {drawn} FROM range({rows}) AS r(i)
            UNION ALL
            SELECT i * {length - spread} / {groups} + {within} AS second, {same} FROM range({groups}) AS r(i))"""

    def _write(self, database: duckdb.DuckDBPyConnection, name: str, directory: Path) -> None:
        directory.mkdir(parents=True)
        columns = ", ".join((*self.columns(name), "t"))
        for number in range(self.slices):
            file = directory / f"slice-{number:05}.parquet"
            rows = f"SELECT {columns} FROM {name} WHERE slice = {number} ORDER BY t"
            database.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
            os.utime(file, (FIRST_MODIFIED + number,) * 2)  # the file source takes the oldest first

    def _count(self, database: duckdb.DuckDBPyConnection, names: str) -> int:
        """The rows that a join of these streams gives."""
        conditions = [
            f"{_equal(one, other)} AND abs(epoch_us({one}.t) - epoch_us({other}.t)) <= {self.window * 1e6:.0f}"
            for one, other in combinations(names, 2)
        ]
        query = f"SELECT count(*) FROM {', '.join(names)} WHERE {' AND '.join(conditions)}"
        [(count,)] = database.execute(query).fetchall()
        return int(count)


@dataclass(frozen=True)
class Counts:
    """By DuckDB over all rows: what each join below the last makes, by its streams, and the results."""

    made: dict[str, int]
    results: int

    @cached_property
    def partial(self) -> int:
        return sum(self.made.values())


def _column(one: str, other: str) -> str:
    return "".join(sorted((one, other)))


def _equal(one: str, other: str) -> str:
    return f"{one}.{_column(one, other)} = {other}.{_column(one, other)}"
