"""How many tasks a step of a slice has: as many as there is work for.

A task takes milliseconds before its first row, on one of the cores that other jobs of the slice could use.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

_TASKS = "spark.sql.shuffle.partitions"
_ROWS = 50_000
"""Of which a task takes about as long as it takes to start one."""


def widen(spark: SparkSession, rows: int | None) -> None:
    """For a slice that handles about so many rows; None: nobody knows."""
    cores = spark.sparkContext.defaultParallelism
    spark.conf.set(_TASKS, cores if rows is None else min(cores, 1 + rows // _ROWS))


def width(spark: SparkSession) -> int:
    return int(spark.conf.get(_TASKS) or 1)
