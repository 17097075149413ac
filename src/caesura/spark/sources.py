"""Where rows come from: Spark's own readers, with the declared schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from caesura.catalog import Origin, Relation, Stream, Table, Values
from caesura.diagnostics import CaesuraError, Diagnostic, Label
from caesura.diagnostics.code import Code
from caesura.operators.plans import frame_of
from caesura.operators.rows import quote
from caesura.spark.lines import CORRUPT, is_json_lines
from caesura.spark.reasons import SPARK_ERRORS, reason

_TEXTUAL = {"json", "csv", "xml"}
_COLUMNAR = {"parquet", "orc"}
_FILES = _TEXTUAL | _COLUMNAR | {"text", "avro"}


def resolved(location: str, folder: str | None) -> str:
    """A relative location is relative to the file that names it; a URL or an absolute path stays."""
    if folder is None or ":" in location.split("/")[0] or Path(location).is_absolute():
        return location
    return str(Path(folder) / location)


def open_stream(spark: SparkSession, stream: Stream, folder: str | None) -> DataFrame:
    """The stream's declared columns, its punctuation column and, for text formats, what could not be parsed; of
    JSON the lines."""
    assert stream.origin is not None
    format = "text" if is_json_lines(stream) else stream.origin.format
    reader = spark.readStream.format(format).options(**dict(stream.origin.options))
    if is_json_lines(stream):
        return _opened(stream, lambda path: reader.load(path), folder)
    if is_file_format(stream.origin.format):
        reader = reader.schema(_schema(stream))
    if stream.origin.format.lower() in _TEXTUAL:
        reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    return _opened(stream, lambda path: reader.load(path), folder)


def open_table(spark: SparkSession, table: Table, folder: str | None) -> DataFrame:
    assert table.origin is not None
    reader = spark.read.format(table.origin.format).options(**dict(table.origin.options))
    if is_file_format(table.origin.format):
        reader = reader.schema(", ".join(f"{quote(c.name)} {c.type}" for c in table.columns))
    if table.origin.format.lower() in _TEXTUAL:
        # A finite table is read once: a row that cannot be parsed stops the query before it has any result.
        reader = reader.option("mode", "FAILFAST")
    return conformed(_opened(table, lambda path: reader.load(path), folder), table)


def open_values(spark: SparkSession, values: Values) -> DataFrame:
    """A local table: Spark computes the constants as it reads the statement."""
    types = [column.type for column in values.columns]
    rows = (
        ", ".join(f"CAST({cell.sql} AS {type})" for cell, type in zip(row, types, strict=True))
        for row in values.rows
    )
    names = ", ".join(quote(column.name) for column in values.columns)
    try:
        return spark.sql(f"SELECT * FROM VALUES {', '.join(f'({row})' for row in rows)} AS t ({names})")
    except SPARK_ERRORS as error:
        raise CaesuraError(_no_source(values, reason(error))) from error


def conformed(frame: DataFrame, relation: Stream | Table) -> DataFrame:
    """Exactly the declared columns, in the declared types."""
    present = {name.lower() for name in frame.columns}
    missing = [column.name for column in relation.columns if column.name.lower() not in present]
    if missing:
        raise CaesuraError(_no_source(relation, f"it has no column `{missing[0]}`"))
    return frame.selectExpr(*(f"CAST({quote(c.name)} AS {c.type}) AS {quote(c.name)}" for c in relation.columns))


def adopted(frame: DataFrame, spark: SparkSession) -> DataFrame:
    """The same rows as a DataFrame of another session, which can then give them a name."""
    return frame_of(spark, frame._jdf.logicalPlan())


def is_file_format(format: str) -> bool:
    return format.lower() in _FILES


def columnar(stream: Stream) -> bool:
    """Files that are read column by column are cheap to read again; all else is held for the length of a slice."""
    return stream.origin is not None and stream.origin.format.lower() in _COLUMNAR


def _schema(stream: Stream) -> str:
    columns = [f"{quote(c.name)} {c.type}" for c in stream.columns]
    format = stream.origin.format.lower() if stream.origin is not None else None
    # In CSV a line without the last field is malformed, and a line of text is one field: so another is expected
    # only where it is promised.
    extra = [stream.punctuation_column] if format not in ("csv", "text") or stream.in_band else []
    if format in _TEXTUAL:
        extra.append(CORRUPT)
    return ", ".join([*columns, *(f"{quote(name)} STRING" for name in extra)])


def _opened(relation: Stream | Table, load: Callable[[str | None], DataFrame], folder: str | None) -> DataFrame:
    assert relation.origin is not None
    location = relation.origin.location
    try:
        return load(None if location is None else resolved(location, folder))
    except SPARK_ERRORS as error:
        raise CaesuraError(_no_source(relation, reason(error))) from error


def _no_source(relation: Relation, why: str) -> Diagnostic:
    origin: Origin | None = None if isinstance(relation, Values) else relation.origin
    span = (origin and origin.span) or relation.span
    labels = () if span is None else (Label(span, "read from here"),)
    return Diagnostic(Code.SOURCE, f"`{relation.name}` cannot be read", labels, because=(why,))
