"""Where results go, and how they become visible together with the slice that made them.

`stage` runs before the manifest is written, `publish` after it, and again after a restart. Files are written
aside and moved in place when the slice is committed: each row is there exactly once. Any other Spark format has
no such move: its rows are written by `stage`, and a slice that fails before its commit delivers them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote as urlquote

from pyspark.sql import DataFrame, SparkSession

from caesura.catalog import Column, Origin
from caesura.operators.rows import quote
from caesura.spark.storage import Storage

_STAGING = "_caesura"


class ResultSink(Protocol):
    @property
    def repeatable(self) -> bool:
        """Whether nobody sees what was staged before it is published, so that it can be staged again."""

    def stage(self, slice: int, rows: DataFrame) -> None:
        """Write the rows of a slice so that they can be published, or written again."""

    def discard(self, slice: int) -> None:
        """Throw away what was staged."""

    def publish(self, slice: int, count: int | None) -> None:
        """Make a committed slice's rows visible; doing it again changes nothing. `count` is None on a restart."""


@dataclass(frozen=True)
class FileSink:
    """Several queries may write to one place, so each stages under its own name."""

    storage: Storage
    query: str
    format: str
    options: tuple[tuple[str, str], ...] = ()
    repeatable = True

    def stage(self, slice: int, rows: DataFrame) -> None:
        path = self.storage.path(*self._staged(slice))
        rows.write.format(self.format).options(**dict(self.options)).mode("overwrite").save(path)

    def discard(self, slice: int) -> None:
        self.storage.delete(*self._staged(slice))

    def publish(self, slice: int, count: int | None) -> None:
        staged = self._staged(slice)
        for name in self.storage.names(*staged):
            if not name.startswith(("_", ".")):
                self.storage.move((*staged, name), (f"slice-{_name(slice)}-{name}",))
        self.storage.delete(*staged)

    def _staged(self, slice: int) -> tuple[str, str]:
        return _STAGING, f"{_name(slice)}-{urlquote(self.query, safe='')}"


@dataclass(frozen=True)
class FormatSink:
    origin: Origin
    location: str | None

    @property
    def repeatable(self) -> bool:
        return self.origin.format.lower() == "noop"

    def stage(self, slice: int, rows: DataFrame) -> None:
        writer = rows.write.format(self.origin.format).options(**dict(self.origin.options)).mode("append")
        writer.save(self.location)

    def discard(self, slice: int) -> None:
        pass

    def publish(self, slice: int, count: int | None) -> None:
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
        pattern = "slice-*" if slice is None else f"slice-{_name(slice)}-*"
        self.files.storage.make()
        return self.spark.read.schema(schema).option("pathGlobFilter", pattern).parquet(self.files.storage.root)


@dataclass(frozen=True)
class ConsoleSink:
    kept: Kept
    show: Callable[[int, DataFrame, int], None]
    repeatable = True

    def stage(self, slice: int, rows: DataFrame) -> None:
        self.kept.files.stage(slice, rows)

    def discard(self, slice: int) -> None:
        self.kept.files.discard(slice)

    def publish(self, slice: int, count: int | None) -> None:
        self.kept.files.publish(slice, count)
        if count:
            self.show(slice, self.kept.rows(slice), count)


@dataclass(frozen=True)
class MemorySink:
    """All results so far as a temporary view with the query's name."""

    kept: Kept
    name: str
    repeatable = True

    def stage(self, slice: int, rows: DataFrame) -> None:
        self.kept.files.stage(slice, rows)

    def discard(self, slice: int) -> None:
        self.kept.files.discard(slice)

    def publish(self, slice: int, count: int | None) -> None:
        self.kept.files.publish(slice, count)
        self.refresh()

    def refresh(self) -> None:
        self.kept.rows().createOrReplaceTempView(self.name)


def _name(slice: int) -> str:
    return f"{slice:010d}"
