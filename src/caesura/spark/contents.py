"""Rows of a checkpoint, for whoever looks into it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import TypeVar

from pyspark.sql import SparkSession

from caesura.checkpoint.contents import opened
from caesura.checkpoint.damage import damaged
from caesura.checkpoint.manifest import Manifest
from caesura.checkpoint.storage import Storage, visible
from caesura.checkpoint.tables import TableFiles, read_tables
from caesura.checkpoint.verify import STATE, require
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.rows import quote
from caesura.spark.quarantine import QUARANTINE
from caesura.spark.reasons import SPARK_ERRORS, reason

T = TypeVar("T")
_TRIES = 20
SLICE_OF_FILE = f"CAST(regexp_extract(_metadata.file_path, '/{STATE}/([0-9]+)-[^/]*/[^/]*/[^/]*$', 1) AS BIGINT)"
"""The slice that wrote a row, as SQL."""


def rows_of(spark: SparkSession, storage: Storage, name: str) -> Iterator[str]:
    """Each row of a state table as JSON, after the last slice that was committed."""

    def found(last: Manifest) -> Iterator[str]:
        tables = read_tables(storage)
        if name not in last.tables or name not in tables:
            known = ", ".join(f"`{each}`" for each in last.tables) or "none"
            raise CaesuraError(
                Diagnostic(Code.CHECKPOINT, f"there is no table `{name}`", because=(f"there are {known}",))
            )
        version, table = last.tables[name], tables[name]
        places = [
            ((STATE, part.folder, table.folder, file.name), file) for part in version.parts for file in part.files
        ]
        for place, file in places:
            require(storage, file, *place)
        in_manifest = version.spans and version.listed and version.base is not None and not version.base.files
        return chain(
            _listed(table, version.spans) if in_manifest else (),
            _as_json(spark, table, [storage.path(*place) for place, _ in places]) if places else (),
        )

    return _of_last(storage, found)


def quarantined_rows(spark: SparkSession, storage: Storage) -> Iterator[str]:
    """What was set aside by slices that were committed, as JSON."""

    def found(last: Manifest) -> Iterator[str]:
        table = read_tables(storage)[QUARANTINE.name]
        paths = quarantine_paths(storage, table.folder, last)
        return _as_json(spark, table, paths, f"{SLICE_OF_FILE} AS slice") if paths else iter(())

    return _of_last(storage, found)


def quarantine_paths(storage: Storage, folder: str, last: Manifest) -> list[str]:
    """The folders of what was set aside."""
    for each in last.aside:
        if not any(map(visible, storage.names(STATE, each, folder))):
            raise damaged(storage.path(STATE, each, folder), "what was set aside is missing")
    return [storage.path(STATE, each, folder) for each in last.aside]


def _of_last(storage: Storage, read: Callable[[Manifest], T]) -> T:
    """What is read of the last slice. A run that goes on deletes files of a slice when the next is committed: so
    if one is missing, and there is a next, that is read."""
    for tried in count(1):
        last = opened(storage)
        try:
            return read(last)
        except (CaesuraError, *SPARK_ERRORS) as error:
            if opened(storage).slice > last.slice and tried < _TRIES:
                continue
            if isinstance(error, CaesuraError):
                raise
            raise damaged(storage.path(STATE), reason(error)) from error
    raise AssertionError


def _as_json(spark: SparkSession, table: TableFiles, paths: list[str], *more: str) -> Iterator[str]:
    """Read before the first is shown: what is shown cannot be taken back."""
    columns = (f"{sql} AS {quote(name)}" for name, sql in table.columns.items())
    frame = spark.read.schema(table.schema).parquet(*paths).selectExpr(*more, *columns)
    shown = frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS row").localCheckpoint()
    return (row[0] for row in shown.toLocalIterator())


def _listed(table: TableFiles, spans: tuple[tuple[str | None, str | None], ...]) -> Iterator[str]:
    """Intervals that are in the manifest."""
    (column,) = table.columns
    return (json.dumps({column: {"low": low, "high": high}}) for low, high in spans)
