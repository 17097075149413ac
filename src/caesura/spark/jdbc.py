"""Results in a database, each row exactly once.

A slice's rows are written to a table of their own. When the slice is committed, one transaction adds them to the
table of the sink and notes the number of the slice: if that is noted, they are there, whatever the process that
did it came to see of it. Only then are they dropped.

The number also keeps one writer from another: who publishes a slice that was published changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

from pyspark.sql import DataFrame

from caesura.catalog import Column
from caesura.checkpoint.damage import damaged
from caesura.checkpoint.failpoints import reach
from caesura.checkpoint.manifest import Result
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.rows import quote
from caesura.spark.database import Database, Transaction
from caesura.spark.reasons import SPARK_ERRORS, reason
from caesura.spark.sinks import written

SLICES = "caesura_slices"
"""The table with the number of the last slice, by checkpoint and query."""
_SLICES = (
    "(mark VARCHAR(32) NOT NULL, query_name VARCHAR(255) NOT NULL, slice BIGINT NOT NULL,"
    " PRIMARY KEY (mark, query_name))"
)
_NONE = -1
_SCHEMA = re.compile(r"""((?:(?:"[^"]*"|`[^`]*`|\[[^]]*\]|[^."`\[])+\.)*)""")
"""All that stands before the name of a table, which may be quoted and have dots."""


@dataclass(frozen=True)
class JdbcSink:
    database: Database
    table: str
    query: str
    columns: tuple[Column, ...]
    mark: str
    writer: str
    repeatable = True

    def prepare(self) -> None:
        """Make what is missing, and see that a slice can be written, before there is one."""
        casts = ", ".join(f"CAST(NULL AS {each.type}) AS {quote(each.name)}" for each in self.columns)
        self._append(self.database.spark.sql(f"SELECT {casts} WHERE false"), self.table)
        self._make_slices()
        with self.database.transaction() as transaction:
            if self._last(transaction) is None:
                row = f"INSERT INTO {self._near(SLICES)} (mark, query_name, slice) VALUES (?, ?, ?)"
                transaction.execute(row, self.mark, self.query, _NONE)
        self._make(_NONE)
        self.discard(_NONE)

    def _make_slices(self) -> None:
        """The table of numbers, if it is not there; somebody else may make it in the same moment."""
        try:
            with self.database.transaction() as transaction:
                transaction.columns(self._near(SLICES))
        except SPARK_ERRORS:
            try:
                with self.database.transaction() as transaction:
                    transaction.execute(f"CREATE TABLE {self._near(SLICES)} {_SLICES}")
            except SPARK_ERRORS:
                with self.database.transaction() as transaction:
                    if SLICES not in transaction.tables(SLICES):
                        raise

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        self.discard(slice)
        self._make(slice)
        staged = self._staged(slice)
        number = written(rows, lambda rows: self._append(rows, staged))
        with self.database.transaction() as transaction:
            found = transaction.number(f"SELECT COUNT(*) FROM {staged}")
        if found != number:  # a task that was done again after its rows were in
            raise OSError(f"the table {staged} has {found} rows, and should have {number}")
        return Result(number)

    def discard(self, slice: int) -> None:
        self._drop(self._name(slice, self.writer))

    def publish(self, slice: int, result: Result) -> None:
        if not self._publish(slice, result, self.writer):
            raise CaesuraError(
                Diagnostic(
                    Code.IN_USE,
                    f"`{self.table}` has slice {slice} of this checkpoint already",
                    because=("another run has written it, of the same checkpoint or of a copy",),
                    help=("go on with one of them; a copy needs a checkpoint and a table of its own",),
                )
            )

    def verify(self, slice: int, result: Result, writer: str) -> None:
        with self.database.transaction() as transaction:
            last = self._last(transaction)
        if last is not None and last > slice:
            raise CaesuraError(
                Diagnostic(
                    Code.DAMAGED,
                    f"the checkpoint is older than what it wrote to `{self.table}`",
                    because=(f"slice {last} is in the table, and the last of the checkpoint is {slice}",),
                    help=("put the checkpoint back that belongs to the table, or start with a new one",),
                )
            )

    def recover(self, slice: int, result: Result, writer: str) -> None:
        try:
            self._publish(slice, result, writer)
        except SPARK_ERRORS as error:
            raise CaesuraError(
                Diagnostic(
                    Code.SINK,
                    f"`{self.table}` does not take the rows of slice {slice}, which is committed",
                    because=(reason(error),),
                    help=("once the cause is gone, a new start with the same --checkpoint delivers them",),
                )
            ) from error
        with self.database.transaction() as transaction:
            left = transaction.tables(self._start)
        for name in left:
            self._drop(name)

    def _publish(self, slice: int, result: Result, writer: str) -> bool:
        """False if it was done before."""
        name = self._name(slice, writer)
        new = not result.rows or self._moved(slice, result, self._near(name))
        if result.rows and new:
            reach("half published")
        self._drop(name)
        return new

    def _moved(self, slice: int, result: Result, staged: str) -> bool:
        """Move the rows where they belong, unless they are there."""
        with self.database.transaction() as transaction:
            if not self._note(transaction, slice):
                return False
            self._move(transaction, staged, result)
            reach("half published")
        return True

    def _note(self, transaction: Transaction, slice: int) -> bool:
        """Whether it was not there yet. Until the transaction ends, who else asks waits."""
        note = f"UPDATE {self._near(SLICES)} SET slice = ? WHERE mark = ? AND query_name = ? AND slice < ?"
        return transaction.execute(note, slice, self.mark, self.query, slice) == 1

    def _move(self, transaction: Transaction, staged: str, result: Result) -> None:
        names = self._names(transaction)
        moved = transaction.execute(f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {staged}")
        if moved != result.rows:
            raise damaged(staged, f"the table has {moved} rows, and had {result.rows}")

    def _names(self, transaction: Transaction) -> str:
        """The columns, as the table calls them."""
        theirs = {name.lower(): name for name in transaction.columns(self.table)}
        own = (theirs.get(column.name.lower(), column.name) for column in self.columns)
        return ", ".join(map(self.database.quoted, own))

    def _last(self, transaction: Transaction) -> int | None:
        asked = f"SELECT slice FROM {self._near(SLICES)} WHERE mark = ? AND query_name = ?"
        return transaction.number(asked, self.mark, self.query)

    def _make(self, slice: int) -> None:
        """An empty table with the types of the sink's, so that values that do not fit are found before the slice
        is committed."""
        with self.database.transaction() as transaction:
            rows = f"SELECT {self._names(transaction)} FROM {self.table}"
            transaction.execute(f"CREATE TABLE {self._staged(slice)} AS {rows} WITH NO DATA")

    def _append(self, rows: DataFrame, table: str) -> None:
        rows.write.format("jdbc").options(**self.database.options, dbtable=table).mode("append").save()

    def _drop(self, name: str) -> None:
        with self.database.transaction() as transaction:
            if name in transaction.tables(name):
                transaction.execute(f"DROP TABLE {self._near(name)}")

    def _staged(self, slice: int) -> str:
        return self._near(self._name(slice, self.writer))

    def _name(self, slice: int, writer: str) -> str:
        return f"{self._start}_{slice + 1}_{writer}"  # a name has no minus

    @property
    def _start(self) -> str:
        """Of the names of tables with staged rows, which have 38 letters and the digits of the slice."""
        return f"caesura_{self.mark}_{crc32(self.query.encode()):08x}"

    def _near(self, name: str) -> str:
        """In the schema of the sink's table."""
        return f"{_SCHEMA.match(self.table)[1]}{name}"  # type: ignore[index]
