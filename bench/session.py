"""The one way every Spark system of a benchmark is started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from caesura.spark.session import forget_idle_settings

CORES = 2
COLLECTOR = "-XX:+UseParallelGC"
"""As embedded by Caesura, so for all: Flink too is faster with it, 1.1 to 1.3 times in five queries of NEXMark."""
TOUCHED = "-XX:+AlwaysPreTouch"
"""For a JVM that is there for one measurement, whatever the system: else it gets its heap from the machine page by
page while it is measured. One that takes query after query has had its heap soon."""

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.codegen.cache.maxEntries": "4000",  # as embedded by Caesura, so for all
    "spark.buffer.pageSize": "2m",  # the same
    "spark.sql.ui.retainedExecutions": "20",  # the same
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default, INT96, is slow to read
    "spark.sql.streaming.numRecentProgressUpdates": "10000",  # one per slice, and none forgotten
}


def lasting_session(memory: str, settings: Mapping[str, str] | None = None, *options: str) -> SparkSession:
    """The one of this process, which is started if there is none, with these options of Java, and ends with it."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(f"local[{CORES}]").config("spark.driver.memory", memory)
    # The whole heap from the start, as for every system: after a collection a JVM gives back what it does not use,
    # and to take it again, page by page, would be a third of the next run's time.
    builder = builder.config("spark.driver.extraJavaOptions", " ".join((f"-Xms{memory}", COLLECTOR, *options)))
    for key, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    forget_idle_settings(spark)  # as embedded by Caesura, so for all
    return spark


def rest(spark: SparkSession) -> None:
    """Collect garbage before another system's turn."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    jvm.System.gc()


@contextmanager
def spark_session(memory: str, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    spark = lasting_session(memory, settings, TOUCHED)
    try:
        yield spark
    finally:
        spark.stop()
