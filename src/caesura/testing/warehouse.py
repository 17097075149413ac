"""The sensors of a warehouse, the first example of Tucker et al.: two streams of temperatures, punctuated by hour.

Every value is a hash of the seed and the report's number, so a stream is the same on every machine and however it
is cut. A row's *position* is its place in the stream, two for each report of a sensor, so that a punctuation has
room between them. The second sensor's rows come some minutes later than the first one's: an hour is over when
both have said so.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from caesura.testing.slices import Format, even_cuts, write_slices

SENSORS = ("sensor1", "sensor2")
LATER = 7  # minutes by which the second sensor's rows come later
MINUTES = 60
SPREAD = 10  # degrees between the coldest and the warmest report of an hour
WARMEST_HOUR, ITS_COLDEST = 14, 20  # of the day; degrees


@dataclass(frozen=True)
class WarehouseStreams:
    """What was written: for each sensor a folder of its name with a file per slice, in the same number."""

    directory: Path
    slices: int
    hours: int
    reports: int  # of both sensors

    def sensor(self, name: str) -> Path:
        return self.directory / name


def write_warehouse_streams(
    spark: SparkSession,
    directory: Path,
    hours: int,
    slices: int,
    *,
    per_minute: int = 1,
    per_degree: int = 10,
    punctuations: int = 1,
    seed: int = 0,
    format: Format = "parquet",
) -> WarehouseStreams:
    """Write `per_minute` reports of each sensor for every minute, and `punctuations` per hour between them.

    A sensor tells `per_degree` temperatures apart within a degree: that decides how many reports are alike, which
    a union keeps once. The last punctuation of an hour closes it, `{"hour": 17}`; those before it, if there are
    several, close the minutes since the last, `{"hour": 17, "minute": [20, 21]}`.
    """
    assert punctuations == 0 or MINUTES % punctuations == 0
    minute = 2 * per_minute  # in positions
    ends = [round(cut * hours * MINUTES) * minute for cut in even_cuts(slices)]
    for number, name in enumerate(SENSORS):
        rows = _reports(spark, name, hours * MINUTES * per_minute, per_minute, per_degree, seed)
        if punctuations:
            closes = _punctuations(spark, hours, punctuations, minute)
            rows = rows.unionByName(closes, allowMissingColumns=True)
        later = rows.withColumn("position", sf.col("position") + number * LATER * minute)
        write_slices(later, directory / name, ends, format)
    return WarehouseStreams(directory, slices, hours, len(SENSORS) * hours * MINUTES * per_minute)


def _reports(
    spark: SparkSession, sensor: str, count: int, per_minute: int, per_degree: int, seed: int
) -> DataFrame:
    minutes = sf.floor(sf.col("id") / per_minute)
    hour, minute = sf.floor(minutes / MINUTES), minutes % MINUTES
    coldest = ITS_COLDEST - sf.floor(sf.abs(hour % 24 - WARMEST_HOUR) / 2)
    drawn = sf.pmod(sf.xxhash64(sf.lit(sensor), sf.lit(seed), "id"), sf.lit(SPREAD * per_degree))
    return spark.range(count).select(
        (2 * sf.col("id")).alias("position"),
        sf.lit(sensor).alias("sid"),
        hour.cast("int").alias("hour"),
        minute.cast("int").alias("minute"),
        ((coldest * per_degree + drawn) / sf.lit(float(per_degree))).alias("currtmp"),
    )


def _punctuations(spark: SparkSession, hours: int, per_hour: int, minute: int) -> DataFrame:
    """Each stands after the last report that it closes."""
    length = MINUTES // per_hour
    hour, part = sf.floor(sf.col("id") / per_hour), sf.col("id") % per_hour
    minutes = sf.sequence(part * length, part * length + length - 1)
    whole_hour = sf.format_string('{"hour": %d}', hour)
    some_minutes = sf.format_string('{"hour": %d, "minute": %s}', hour, sf.to_json(minutes))
    return spark.range(hours * per_hour).select(
        ((sf.col("id") + 1) * length * minute - 1).alias("position"),
        sf.when(part == per_hour - 1, whole_hour).otherwise(some_minutes).alias("_punctuation"),
    )
