"""Rows of a checkpoint, for whoever looks into it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession

from caesura.checkpoint.contents import opened
from caesura.checkpoint.storage import Storage
from caesura.checkpoint.tables import TableFiles, read_tables
from caesura.checkpoint.verify import STATE, require
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.rows import quote
from caesura.spark.quarantine import QUARANTINE


def rows_of(spark: SparkSession, storage: Storage, name: str) -> Iterator[str]:
    """Each row of a state table as JSON, after the last slice that was committed."""
    last, tables = opened(storage), read_tables(storage)
    if name not in last.tables or name not in tables:
        known = ", ".join(f"`{each}`" for each in last.tables) or "none"
        raise CaesuraError(
            Diagnostic(Code.CHECKPOINT, f"there is no table `{name}`", because=(f"there are {known}",))
        )
    version, table = last.tables[name], tables[name]
    if version.spans and version.listed and version.base is not None and not version.base.files:
        yield from _listed(table, version.spans)
    parts = [part for part in version.parts if part.files]
    for part in parts:
        for file in part.files:
            require(storage, file, STATE, part.folder, table.folder, file.name)
    paths = [storage.path(STATE, part.folder, table.folder, file.name) for part in parts for file in part.files]
    if paths:
        yield from _read(spark, table, paths)


def quarantined(spark: SparkSession, storage: Storage) -> Iterator[str]:
    """What was set aside by slices that were committed."""
    last, table = opened(storage), read_tables(storage)[QUARANTINE.name]
    paths = [storage.path(STATE, folder, table.folder) for folder in last.aside]
    if paths:
        yield from _read(spark, table, paths, f"CAST({_SLICE} AS BIGINT) AS slice")


_SLICE = f"regexp_extract(_metadata.file_path, '/{STATE}/([0-9]+)-', 1)"


def _read(spark: SparkSession, table: TableFiles, paths: list[str], *more: str) -> Iterator[str]:
    columns = (f"{sql} AS {quote(name)}" for name, sql in table.columns.items())
    frame = spark.read.schema(table.schema).parquet(*paths).selectExpr(*more, *columns)
    return _as_json(frame)


def _as_json(frame: DataFrame) -> Iterator[str]:
    shown = frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS row")
    return (row[0] for row in shown.toLocalIterator())


def _listed(table: TableFiles, spans: tuple[tuple[str | None, str | None], ...]) -> Iterator[str]:
    """Intervals that are in the manifest."""
    (column,) = table.columns
    return (json.dumps({column: {"low": low, "high": high}}) for low, high in spans)
