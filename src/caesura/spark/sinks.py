"""Where results go, and how they become visible together with the slice that made them.

`stage` runs before the manifest is written, `publish` after it, and again after a restart. Files are written
aside and moved in place when the slice is committed: each row is there exactly once. So are rows of a database
(`jdbc.py`). Any other Spark format has no such move: its rows are written by `stage`, and a slice that fails
before its commit delivers them again, with the same number, by which the format may know them.

What is published is what the manifest names, whatever else lies where it was staged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote as urlquote

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.catalog import Column, Origin
from caesura.checkpoint.failpoints import reach
from caesura.checkpoint.manifest import Result, slice_name
from caesura.checkpoint.storage import File, Storage, files_of
from caesura.checkpoint.verify import require
from caesura.operators.rows import quote
from caesura.spark.storage import make_ready

STAGING = "_caesura"


class ResultSink(Protocol):
    @property
    def repeatable(self) -> bool:
        """Whether nobody sees what was staged before it is published, so that it can be staged again."""

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        """Write the rows of a slice so that they can be published, or written again. `ends`: it ends the streams,
        and if it is not committed, another may come in its place."""

    def discard(self, slice: int) -> None:
        """Throw away what was staged."""

    def publish(self, slice: int, result: Result) -> None:
        """Make a committed slice's rows visible."""

    def verify(self, slice: int, result: Result, writer: str) -> None:
        """That `recover` can do what it does; before any sink is changed."""

    def recover(self, slice: int, result: Result, writer: str) -> None:
        """After a restart: finish publishing the last committed slice, staged by this writer, and clear what is
        left of any other that was staged, or published although its manifest is gone."""


def written(rows: DataFrame, write: Callable[[DataFrame], object]) -> int:
    """Write rows; how many they were."""
    counted = Observation()
    write(rows.observe(counted, expr("count(*) AS n")))
    return int(counted.get["n"])


@dataclass(frozen=True)
class FileSink:
    """Several queries may write to one place, so each stages under its own name; and several checkpoints, one
    after the other, so files are marked with the one they come from."""

    storage: Storage
    query: str
    format: str
    mark: str
    writer: str = "writer"
    options: tuple[tuple[str, str], ...] = ()
    repeatable = True

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        staged = self._staged(slice)
        path = self.storage.path(*staged)
        make_ready(self.storage, *staged)

        def write(rows: DataFrame) -> None:
            rows.write.format(self.format).options(**dict(self.options)).mode("append").save(path)

        return Result(written(rows, write), files_of(self.storage, *staged))

    def discard(self, slice: int) -> None:
        self.storage.delete(*self._staged(slice))

    def publish(self, slice: int, result: Result) -> None:
        staged = self._staged(slice)
        for file in result.files:
            self.storage.move((*staged, file.name), (self._published(slice, file),))
            reach("half published")
        if result.files:
            self.storage.delete(*staged)

    def verify(self, slice: int, result: Result, writer: str) -> None:
        staged = self._staged(slice, writer)
        for file in self._waiting(slice, result, staged):
            require(self.storage, file, *staged, file.name)

    def recover(self, slice: int, result: Result, writer: str) -> None:
        staged = self._staged(slice, writer)
        for file in self._waiting(slice, result, staged):
            self.storage.move((*staged, file.name), (self._published(slice, file),))
        for name in self.storage.names(STAGING):
            found = _STAGED.fullmatch(name)
            if found is not None and (found[1], found[2]) == (self.mark, self._query):
                self.storage.delete(STAGING, name)
        later = (name for name in self.storage.names() if _is_later(name, slice, self.mark))
        for name in later:
            self.storage.delete(name)

    def _waiting(self, slice: int, result: Result, staged: tuple[str, str]) -> list[File]:
        """The files that are not in place yet. Their folder goes when all are."""
        if not self.storage.exists(*staged):
            return []
        return [file for file in result.files if not self.storage.exists(self._published(slice, file))]

    def _published(self, slice: int, file: File) -> str:
        return f"slice-{slice_name(slice)}-{self.mark}-{file.name}"

    @property
    def _query(self) -> str:
        return urlquote(self.query, safe="")

    def _staged(self, slice: int, writer: str | None = None) -> tuple[str, str]:
        return STAGING, f"{slice_name(slice)}-{self.mark}-{writer or self.writer}-{self._query}"


_STAGED = re.compile(r"[0-9]{10}-([^-]+)-[^-]+-(.*)")


def _is_later(name: str, slice: int, mark: str) -> bool:
    """Whether a file was published by a slice after this one, of the same checkpoint."""
    found = re.fullmatch(r"slice-(\d+)-([^-]+)-.*", name)
    return found is not None and int(found[1]) > slice and found[2] == mark


@dataclass(frozen=True)
class FormatSink:
    origin: Origin
    location: str | None
    application: str = ""
    """Of the checkpoint and the query."""

    @property
    def repeatable(self) -> bool:
        return self.origin.format.lower() == "noop"

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        application = f"{self.application}-end" if ends else self.application
        number = {"txnAppId": application, "txnVersion": str(slice)}  # as Delta Lake calls them
        options = {**number, **dict(self.origin.options)}

        def write(rows: DataFrame) -> None:
            rows.write.format(self.origin.format).options(**options).mode("append").save(self.location)

        return Result(written(rows, write))

    def discard(self, slice: int) -> None:
        pass

    def publish(self, slice: int, result: Result) -> None:
        pass

    def verify(self, slice: int, result: Result, writer: str) -> None:
        pass

    def recover(self, slice: int, result: Result, writer: str) -> None:
        pass


@dataclass(frozen=True)
class Kept:
    """Result rows kept in the checkpoint, to be shown or read from there."""

    spark: SparkSession
    files: FileSink
    columns: tuple[Column, ...]

    def rows(self, slice: int | None = None) -> DataFrame:
        """Of one slice, or of all that are published."""
        schema = ", ".join(f"{quote(column.name)} {column.type}" for column in self.columns)
        pattern = "slice-*" if slice is None else f"slice-{slice_name(slice)}-*"
        self.files.storage.make()
        return self.spark.read.schema(schema).option("pathGlobFilter", pattern).parquet(self.files.storage.root)


@dataclass(frozen=True)
class ConsoleSink:
    kept: Kept
    show: Callable[[int, DataFrame, int], None]
    repeatable = True

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        return self.kept.files.stage(slice, rows, ends=ends)

    def discard(self, slice: int) -> None:
        self.kept.files.discard(slice)

    def publish(self, slice: int, result: Result) -> None:
        self.kept.files.publish(slice, result)
        if result.rows:
            self.show(slice, self.kept.rows(slice), result.rows)

    def verify(self, slice: int, result: Result, writer: str) -> None:
        self.kept.files.verify(slice, result, writer)

    def recover(self, slice: int, result: Result, writer: str) -> None:
        self.kept.files.recover(slice, result, writer)


@dataclass(frozen=True)
class MemorySink:
    """All results so far as a temporary view with the query's name."""

    kept: Kept
    name: str
    repeatable = True

    def stage(self, slice: int, rows: DataFrame, *, ends: bool = False) -> Result:
        return self.kept.files.stage(slice, rows, ends=ends)

    def discard(self, slice: int) -> None:
        self.kept.files.discard(slice)

    def publish(self, slice: int, result: Result) -> None:
        self.kept.files.publish(slice, result)
        self.refresh()

    def verify(self, slice: int, result: Result, writer: str) -> None:
        self.kept.files.verify(slice, result, writer)

    def recover(self, slice: int, result: Result, writer: str) -> None:
        self.kept.files.recover(slice, result, writer)
        self.refresh()

    def refresh(self) -> None:
        self.kept.rows().createOrReplaceTempView(self.name)
