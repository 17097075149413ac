"""Streams of keys that open and close all the time, as many open at any moment as a slice opens.

A block is eight rows and a punctuation. The rows of block b have keys from the last `open_keys` blocks, b among
them; its punctuation closes the oldest, which no later row can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.files import in_order

ROWS_PER_KEY = 8
VALUES = 8  # per key, so that about a third of the rows repeat another


@dataclass(frozen=True)
class KeyedStream:
    directory: Path

    @property
    def declared(self) -> str:
        """As Caesura reads it, a file a slice; named like its folder."""
        return (
            f"CREATE STREAM {self.directory.name} (key BIGINT NOT NULL, value BIGINT, PUNCTUATED BY (key))\n"
            f"USING parquet LOCATION '{self.directory}' OPTIONS (maxFilesPerTrigger 1);\n"
        )

    def rows(self, spark: SparkSession) -> DataFrame:
        """All of it, without the punctuations."""
        return spark.read.parquet(str(self.directory)).where("_punctuation IS NULL").drop("_punctuation")


def write_keyed_stream(
    spark: SparkSession, directory: Path, rows: int, slices: int, open_keys: int, seed: int
) -> KeyedStream:
    """`rows` to each of the slices. A partition of a range becomes a file, so nothing is shuffled or sorted."""
    block, place = f"id DIV {ROWS_PER_KEY + 1}", f"id % {ROWS_PER_KEY + 1}"
    age = f"pmod(xxhash64('key', {seed}, id), {open_keys})"
    value = f"pmod(xxhash64('value', {seed}, id), {VALUES})"
    events = rows * (ROWS_PER_KEY + 1) // ROWS_PER_KEY * slices
    (
        spark.range(0, events, 1, slices)
        .selectExpr("id", f"{block} AS block", f"{place} < {ROWS_PER_KEY} AS is_row")
        .selectExpr(
            f"IF(is_row, block - {age}, NULL) AS key",
            f"IF(is_row, {value}, NULL) AS value",
            f"""IF(is_row, NULL, concat('{{"key": ', block - {open_keys}, '}}')) AS _punctuation""",
        )
        .write.mode("overwrite")
        .parquet(str(directory))
    )
    in_order(directory)
    return KeyedStream(directory)
