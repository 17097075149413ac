"""All streams as one Structured Streaming query, and each stream's part of a micro-batch.

Spark hands a micro-batch to `foreachBatch` as an opaque RDD: every reader of it decodes every column of every
stream. So where a stream's part of the batch is a set of files, it is taken as that relation, and Catalyst reads
only the columns and row groups that a job needs. Everything else is taken out of the tagged union.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from caesura.catalog import Stream
from caesura.operators.rows import Rows, leaf, made, quote, text
from caesura.spark.lines import CORRUPT, DETAIL, FILE, csv_detail, is_blank, is_json_lines, parsed
from caesura.spark.sources import adopted, columnar, is_file_format

TAG, PUNCTUATION = "caesura: stream", "caesura: punctuation"
IS_ROW = f"{quote(PUNCTUATION)} IS NULL AND {quote(CORRUPT)} IS NULL"
"""That it is a row proper: no punctuation, and readable."""
_LITTLE = 4 * 1024 * 1024
"""Bytes that are read again in no time."""
_FILE_PATH = f"_metadata.file_path AS {quote(FILE)}"


@dataclass(frozen=True)
class Input:
    """A declared stream and the streaming DataFrame it stands on."""

    stream: Stream
    frame: DataFrame

    def normalised(self, present: Collection[str]) -> dict[str, str]:
        """The declared columns in their types, the punctuation, what could not be parsed and why, and where it
        came from, as SQL over the columns that are there."""
        columns = {PUNCTUATION: self.stream.punctuation_column, CORRUPT: CORRUPT, DETAIL: DETAIL, FILE: FILE}
        marks = {mark: quote(name) if name in present else "NULL" for mark, name in columns.items()}
        if self.stream.origin is not None and self.stream.origin.format.lower() == "csv" and CORRUPT in present:
            marks[DETAIL] = csv_detail(self.stream)
        columns = {c.name: f"CAST({quote(c.name)} AS {c.type})" for c in self.stream.columns}
        return {**{name: f"CAST({sql} AS STRING)" for name, sql in marks.items()}, **columns}

    @cached_property
    def leaves(self) -> int:
        """The relations that its plan reads."""
        return int(self.frame._jdf.queryExecution().analyzed().collectLeaves().size())

    @property
    def is_relation(self) -> bool:
        """Whether its part of a batch is a relation over files."""
        origin = self.stream.origin
        return origin is not None and is_file_format(origin.format) and self.leaves == 1


@dataclass(frozen=True)
class Brought:
    """What a stream has in a batch."""

    rows: Rows
    placed: Rows
    """The same, each row with the file that it came in. Of columnar files that takes longer to read: what is set
    aside asks for it, and punctuations that are read in full."""
    much: bool = False
    """Whether it is so much, and not in memory, that what is found in it is held and not looked for again."""


@dataclass(frozen=True)
class Inputs:
    spark: SparkSession
    inputs: Mapping[str, Input]

    def union(self) -> DataFrame:
        """A tag, the punctuation, and each stream's columns under its name; NULL in the other streams' rows. Of
        relations nothing but the tag: nobody reads them here."""
        return reduce(DataFrame.union, map(self._tagged, self.inputs))

    @contextmanager
    def of_batch(self, batch: DataFrame, query: StreamingQuery) -> Iterator[dict[str, Brought]]:
        """What each stream that brings anything has in the batch that the query is executing."""
        relations = dict(self._relations(query))
        frames = {name: self._part(name, batch, relations.get(name)) for name in self.inputs}
        parts = {name: frame for name, frame in frames.items() if frame is not None}
        held = [frame for name, frame in parts.items() if not columnar(self.inputs[name].stream)]
        for frame in held:
            frame.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield {name: self._brought(name, frame, relations.get(name)) for name, frame in parts.items()}
        finally:
            for frame in held:
                frame.unpersist()

    def _brought(self, name: str, frame: DataFrame, relation: Any) -> Brought:
        each = self.inputs[name]
        held = relation is not None and not columnar(each.stream)
        rows = leaf(frame, len(relation.relation().location().inputFiles()) if held else 0)
        placed = rows
        if relation is not None and FILE not in rows.columns:
            placed = made((*rows.columns, FILE), lambda: frame.selectExpr("*", _FILE_PATH))
        normal, with_files = (one.project(each.normalised(one.columns)) for one in (rows, placed))
        if relation is None:
            return Brought(normal, with_files)
        much = relation.relation().sizeInBytes() > _LITTLE
        return Brought(normal, with_files, much=columnar(each.stream) and much)

    def time(self, query: StreamingQuery) -> int:
        """When the batch came that the query is executing, in microseconds. Spark writes it down before a batch
        runs, so that it is the same if the batch has to run again."""
        metadata = query._jsq.streamingQuery().lastExecution().offsetSeqMetadata()
        return int(metadata.batchTimestampMs()) * 1000

    def _part(self, name: str, batch: DataFrame, relation: Any) -> DataFrame | None:
        if relation is not None:
            match relation.getClass().getSimpleName():
                case "LocalRelation":  # what Spark puts in the place of a source without new data
                    return None
                case "LogicalRelation":
                    java = self.spark._jsparkSession.baseRelationToDataFrame(relation.relation())
                    return self._of_files(name, DataFrame(java, self.spark))
                case other:
                    raise TypeError(f"Spark reads the files of `{name}` as {other}, which is not known here")
        stream = self.inputs[name].stream
        columns = {c.name: quote(f"{name}.{c.name}") for c in stream.columns}
        marks = {stream.punctuation_column: quote(PUNCTUATION), CORRUPT: quote(CORRUPT)}
        chosen = (f"{sql} AS {quote(column)}" for column, sql in {**columns, **marks}.items())
        return adopted(batch.where(f"{quote(TAG)} = {text(name)}").selectExpr(*chosen), self.spark)

    def _of_files(self, name: str, frame: DataFrame) -> DataFrame:
        stream = self.inputs[name].stream
        if columnar(stream):
            return frame
        if not is_json_lines(stream):
            return frame.selectExpr("*", _FILE_PATH)
        first, second = parsed(stream, frame.columns)
        steps = frame.where(f"NOT {is_blank('value')}").selectExpr(*_named(first), _FILE_PATH)
        return steps.selectExpr(*_named(second), quote(FILE))

    def _relations(self, query: StreamingQuery) -> Iterator[tuple[str, Any]]:
        """The relation that each stream of files reads in the current batch."""
        leaves = query._jsq.streamingQuery().lastExecution().logical().collectLeaves()
        at = 0
        for name, each in self.inputs.items():
            if each.is_relation:
                yield name, leaves.apply(at)
            at += each.leaves

    def _tagged(self, name: str) -> DataFrame:
        each = self.inputs[name]
        mine = {} if each.is_relation else each.normalised(each.frame.columns)
        columns = {TAG: text(name)}
        for mark in (PUNCTUATION, CORRUPT):
            columns[mark] = mine.get(mark, "CAST(NULL AS STRING)")
        for owner, other in self.inputs.items():
            if not other.is_relation:
                for c in other.stream.columns:
                    columns[f"{owner}.{c.name}"] = mine[c.name] if owner == name else f"CAST(NULL AS {c.type})"
        return each.frame.selectExpr(*(f"{sql} AS {quote(column)}" for column, sql in columns.items()))


def _named(columns: Mapping[str, str]) -> list[str]:
    return [f"{sql} AS {quote(name)}" for name, sql in columns.items()]
