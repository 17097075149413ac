"""Cut a stream of positioned rows into slices, and write one file per slice for Spark's file source."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

Format = Literal["parquet", "json"]

FIRST_MODIFIED = 1_767_225_600  # 2026-01-01T00:00:00Z
ROW_GROUP_BYTES = 4 << 20  # several row groups a file, so that every core reads a part of a slice


def even_cuts(slices: int) -> list[float]:
    """The fractions of a stream at which slices of equal size end."""
    return [number / slices for number in range(1, slices)]


def random_cuts(slices: int, seed: int) -> list[float]:
    """The same for slices of very different sizes."""
    generator = random.Random(seed)
    return sorted(generator.random() for _ in range(slices - 1))


@dataclass(frozen=True)
class Histogram:
    """How many rows each bin of positions holds: enough to cut a stream without sorting it."""

    width: int
    bins: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, rows: DataFrame, width: int) -> Histogram:
        number = sf.floor(sf.col("position") / width).alias("number")
        counts = rows.groupBy(number).count().orderBy("number").collect()
        return cls(width, tuple((row["number"], row["count"]) for row in counts))

    @property
    def rows(self) -> int:
        return sum(count for _, count in self.bins)

    def position_after(self, fraction: float) -> int:
        """The position up to which about this fraction of the rows lies."""
        wanted = fraction * self.rows
        seen = 0
        for number, count in self.bins:
            if seen + count / 2 >= wanted:
                return number * self.width
            seen += count
        return (self.bins[-1][0] + 1) * self.width


def write_slices(rows: DataFrame, directory: Path, ends: Sequence[int], format: Format) -> None:
    """One file per slice, even an empty one, with its rows by position; slice k ends before `ends[k]`.

    The file source takes the oldest file first, so the modification times follow the slices.
    """
    slices = len(ends) + 1
    parts, empty = directory / "_parts", directory / "_empty"  # an underscore hides them from readers
    data = rows.drop("position")
    (
        rows.withColumn("slice", _slice_of(sf.col("position"), ends))
        .repartition(slices, "slice")
        .sortWithinPartitions("slice", "position")
        .drop("position")
        .write.partitionBy("slice")
        .option("parquet.block.size", ROW_GROUP_BYTES)
        .save(str(parts), format=format)
    )
    data.where(sf.lit(False)).coalesce(1).write.save(str(empty), format=format)
    for number in range(slices):
        part = parts / f"slice={number}"
        [written] = (part if part.exists() else empty).glob(f"part-*.{format}")
        file = directory / f"slice-{number:05}.{format}"
        shutil.copyfile(written, file)
        os.utime(file, (FIRST_MODIFIED + number, FIRST_MODIFIED + number))
    shutil.rmtree(parts)
    shutil.rmtree(empty)


def _slice_of(position: Column, ends: Sequence[int]) -> Column:
    return sf.size(sf.filter(sf.array(*map(sf.lit, ends)), lambda end: end <= position)) if ends else sf.lit(0)
