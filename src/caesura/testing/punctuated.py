"""Streams in the arrival patterns of PWJoin (`arrivals.py`), for tests of a few rows and benchmarks of millions.

    >>> stream = PunctuatedStream(ArrivalPattern.parse("punct-desc-3-50"), rows=6)
    >>> print(*(item if isinstance(item, str) else item["key"] for item in stream.items()))
    0 1 0 1 {"key": 1} 0 0 {"key": 0}

`items` is for a few rows and needs no Spark. `dataframe` is the same stream for many, and
`write_punctuated_streams` cuts streams into files that a pipeline reads slice by slice. What is drawn is defined
once for both, in `_Drawn`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Generic

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from caesura.testing.arrivals import ArrivalPattern, Order, Punct, Uniform
from caesura.testing.chance import Chance, N, OfColumns, OfIntegers
from caesura.testing.script import Item
from caesura.testing.slices import Format, even_cuts, write_slices

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class PunctuatedStream:
    """Rows of a `key` and the time `at` which they arrive, and between them punctuations such as `{"key": 17}`.

    Keys are the numbers from 0 up to `keys`. Streams that are to be joined have the same, which means as many rows
    in proportion to the size of a segment, and different seeds. Times are those of a Poisson process, in
    microseconds and never twice the same; a punctuation comes a microsecond after what is before it.
    """

    pattern: ArrivalPattern
    rows: int  # about so many, since the sizes of segments are drawn
    inter_arrival: timedelta = timedelta(milliseconds=10)  # on average
    start: datetime = START
    seed: int = 0
    irrelevant: bool = False
    """Each punctuation is of a key that no row has, from `keys` on, in the place of the one that is closed."""

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError("a stream has at least one row")
        if self.inter_arrival <= MICROSECOND:
            raise ValueError("rows arrive more than a microsecond apart, on average")
        if self.irrelevant and not self.punctuated:
            raise ValueError(f"{self.pattern} has no punctuations, so none is irrelevant")

    @property
    def keys(self) -> int:
        return self.pattern.keys(self.rows)

    @property
    def segments(self) -> int:
        return self.pattern.segments(self.rows)

    @property
    def punctuated(self) -> bool:
        return not isinstance(self.pattern, Uniform)

    @property
    def expected_end(self) -> datetime:
        return self.start + self.rows * self.inter_arrival

    def items(self) -> Iterator[Item]:
        """As they arrive: rows, and the texts of punctuations."""
        drawn = _Drawn(self, OfIntegers(self.seed))
        keys = sorted(range(self.keys), key=drawn.rank)
        clock = _microseconds(self.start)
        for segment in range(self.segments):
            size = drawn.size(segment)
            matching = drawn.matching(segment, size)
            for number in range(1, size + 1):
                clock += drawn.gap(segment, size, number)
                place = drawn.place(segment, size, matching, number)
                yield {"key": keys[place], "at": EPOCH + clock * MICROSECOND}
            clock += drawn.gap(segment, size, size + 1)
            if self.punctuated:
                yield f'{{"key": {keys[segment] + self._shift}}}'

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """The same with a `position`, the microsecond of arrival. Punctuations are in `_punctuation`."""
        drawn = _Drawn(self, OfColumns(self.seed))
        key, segment, size, matching, number = map(sf.col, ("key", "segment", "size", "matching", "number"))
        elapsed = sf.sum(drawn.gap(segment, size, number)).over(Window.partitionBy("segment").orderBy("number"))
        is_row = number <= size
        return (
            self._segments(spark, drawn)
            .withColumn("number", sf.explode(_numbers(size)))
            .withColumn("position", sf.col("end") - sf.col("length") + elapsed)
            .withColumn("place", drawn.place(segment, size, matching, number))
            .where(is_row | sf.lit(self.punctuated))
            .join(self._places(spark, drawn), "place")
            .select(
                "position",
                sf.when(is_row, key).alias("key"),
                sf.when(is_row, sf.timestamp_micros("position")).alias("at"),
                sf.when(~is_row, sf.format_string('{"key": %d}', key + self._shift)).alias("_punctuation"),
            )
        )

    def _segments(self, spark: SparkSession, drawn: _Drawn[Column]) -> DataFrame:
        """With their length and end in time, so that the rows of all of them can be made at once."""
        segment, size = sf.col("segment"), sf.col("size")

        def add_gap(total: Column, number: Column) -> Column:
            return total + drawn.gap(segment, size, number)

        return (
            spark.range(self.segments)
            .withColumnRenamed("id", "segment")
            .withColumn("size", drawn.size(segment))
            .withColumn("matching", drawn.matching(segment, size))
            .withColumn("length", sf.reduce(_numbers(size), sf.lit(0).cast("bigint"), add_gap))
            .withColumn("end", sf.sum("length").over(Window.orderBy("segment")) + _microseconds(self.start))
            # The window has put them into one partition. A given number of partitions is not merged again.
            .repartition(spark.sparkContext.defaultParallelism, "segment")
        )

    def _places(self, spark: SparkSession, drawn: _Drawn[Column]) -> DataFrame:
        by_rank = Window.orderBy(drawn.rank(sf.col("id")), "id")
        place = sf.row_number().over(by_rank) - 1
        return spark.range(self.keys).select(sf.col("id").alias("key"), place.alias("place"))

    @property
    def _shift(self) -> int:
        """From the key that a punctuation is about to the one that it names."""
        return self.keys if self.irrelevant else 0


@dataclass(frozen=True)
class _Drawn(Generic[N]):
    """The definition. The rows of a segment are numbered from 1; its punctuation has the number after the last.

    A key has a *place* in the order in which keys are punctuated: the number of the segment that closes it.
    """

    stream: PunctuatedStream
    chance: Chance[N]

    def rank(self, key: N) -> N:
        """Keys are punctuated by rank."""
        match self.stream.pattern.order:
            case Order.ASC:
                return key
            case Order.DESC:
                return -key
            case Order.RANDOM:
                return self.chance.hash("rank", key)

    def size(self, segment: N) -> N:
        return self.chance.poisson(self.stream.pattern.size, "size", segment)

    def matching(self, segment: N, size: N) -> N:
        """How many rows carry the key that the segment closes, rounded up or down so that the mean is kept."""
        if not isinstance(self.stream.pattern, Punct):
            return size
        drawn = self.chance.poisson(self.stream.pattern.match, "match", segment)
        percentage = self.chance.least(drawn, 100)
        return self.chance.quotient(size * percentage + self.chance.below(100, "rounding", segment), 100)

    def place(self, segment: N, size: N, matching: N, number: N) -> N:
        """Of the row's key. No row comes after its key is closed, since its place is never before its segment.

        The matching rows, if any, are spread evenly, and the segment's last row is one of them: a key is closed
        right after its last row.
        """
        if not self.stream.punctuated:
            return self.chance.below(self.stream.keys, "key", segment, number)
        last = self.stream.keys - 1
        later = self.chance.least(segment + 1, last)
        other = later + self.chance.below(last - later + 1, "other", segment, number)
        closed_here = (number > size) | (number * matching % size < matching)
        return self.chance.either(closed_here, segment, other)

    def gap(self, segment: N, size: N, number: N) -> N:
        """Microseconds since the arrival before."""
        mean = self.stream.inter_arrival / MICROSECOND
        return self.chance.either(number <= size, self.chance.geometric(mean, "gap", segment, number), 1)


def write_punctuated_streams(
    spark: SparkSession,
    directory: Path,
    streams: Mapping[str, PunctuatedStream],
    slices: int,
    *,
    format: Format = "parquet",
) -> None:
    """Write a folder for each stream, by its name, with a file per slice; the k-th of all are of the same time."""
    keys = {name: stream.keys for name, stream in streams.items()}
    if len({*keys.values()}) != 1:
        raise ValueError(f"streams that are to be joined have the same number of keys, not {keys}")
    start = min(_microseconds(stream.start) for stream in streams.values())
    end = max(_microseconds(stream.expected_end) for stream in streams.values())
    ends = [start + round(cut * (end - start)) for cut in even_cuts(slices)]
    for name, stream in streams.items():
        write_slices(stream.dataframe(spark), directory / name, ends, format)


def _microseconds(time: datetime) -> int:
    return (time - EPOCH) // MICROSECOND


def _numbers(size: Column) -> Column:
    """Of a segment's rows, and of its punctuation."""
    return sf.sequence(sf.lit(1).cast("bigint"), size + 1)
