"""The sinks of a pipeline's queries, opened before the first slice, so that none fails of what is known then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from caesura import plan
from caesura.catalog import Origin
from caesura.checkpoint.storage import Storage
from caesura.diagnostics import CaesuraError, Diagnostic, Label
from caesura.diagnostics.code import Code
from caesura.operators.java import java
from caesura.spark.database import Database
from caesura.spark.jdbc import JdbcSink
from caesura.spark.reasons import SPARK_ERRORS, reason
from caesura.spark.sinks import ConsoleSink, FileSink, FormatSink, Kept, MemorySink, ResultSink
from caesura.spark.sources import is_file_format, resolved
from caesura.spark.storage import storage_at

Show = Callable[[str, int, DataFrame, int], None]
"""Called with a query's name, the slice, its result rows and their number."""

_TABLE = "dbtable"


@dataclass(frozen=True)
class Targets:
    spark: SparkSession
    storage: Storage
    """Of the checkpoint."""
    mark: str
    """Of the checkpoint."""
    writer: str
    folder: str | None
    """What relative locations are relative to."""
    show: Show

    def open(self, query: plan.Query) -> ResultSink:
        origin = _origin(query)
        location = None if origin.location is None else resolved(origin.location, self.folder)
        match origin.format.lower():
            case "console":
                return ConsoleSink(self._kept(query), partial(self.show, query.name))
            case "memory":
                sink = MemorySink(self._kept(query), query.name)
                sink.refresh()
                return sink
            case "jdbc":
                return self._database(query, origin)
            case format if not is_file_format(format):
                self._require_format(query, origin)
                return FormatSink(origin, location, f"{self.mark}-{query.name}")
        if location is None:
            raise self.refused(query, f"the format {origin.format} writes files, and no LOCATION says where")
        try:
            target = storage_at(self.spark, location)
        except OSError as error:
            raise self.refused(query, str(error)) from error
        if target.is_file():
            raise self.refused(query, f"`{location}` is a file, not a folder")
        return FileSink(target, query.name, origin.format, self.mark, self.writer, origin.options)

    def refused(self, query: plan.Query, why: str, *help: str) -> CaesuraError:
        span = _origin(query).span or query.span
        labels = () if span is None else (Label(span),)
        what = f"`{query.name}` cannot be written"
        return CaesuraError(Diagnostic(Code.SINK, what, labels, because=(why,), help=help))

    def _kept(self, query: plan.Query) -> Kept:
        results = storage_at(self.spark, self.storage.path("results", query.name))
        files = FileSink(results, query.name, "parquet", self.mark, self.writer)
        return Kept(self.spark, files, query.plan.columns)

    def _database(self, query: plan.Query, origin: Origin) -> JdbcSink:
        options = {name.lower(): value for name, value in origin.options}
        if missing := [name for name in ("url", _TABLE) if name not in options]:
            raise self.refused(query, f"the format jdbc needs OPTIONS ({', '.join(missing)} …)")
        table = options.pop(_TABLE)
        database = Database(self.spark, options)
        sink = JdbcSink(database, table, query.name, query.plan.columns, self.mark, self.writer)
        try:
            sink.prepare()
        except SPARK_ERRORS as error:
            why = reason(error)
            help = ("name the jar of the database's driver: --jars",) if "driver" in why.lower() else ()
            raise self.refused(query, why, *help) from error
        return sink

    def _require_format(self, query: plan.Query, origin: Origin) -> None:
        sources = java(self.spark, "org.apache.spark.sql.execution.datasources.DataSource")
        try:
            sources.lookupDataSource(origin.format, self.spark._jsparkSession.sessionState().conf())
        except SPARK_ERRORS as error:
            raise self.refused(query, reason(error)) from error


def _origin(query: plan.Query) -> Origin:
    assert query.sink is not None
    return query.sink.origin
