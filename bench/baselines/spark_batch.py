"""One batch join of all rows, when they are all there already: the floor under any continuous join on Spark."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from bench.result import Result
from bench.session import spark_session
from bench.workload import QUERY, Workload, warm_up
from caesura.testing import AuctionStreams


def spark_batch_join(workload: Workload) -> Result:
    with spark_session(workload.memory) as spark:
        joined = _join(spark, workload.streams)
        counted = Observation()  # counting costs a little, so only the first run does it
        _discard(joined.observe(counted, sf.count(sf.lit(1)).alias("rows")))
        warm_up(lambda: _discard(joined), workload.seconds)
        started = time.perf_counter()
        _discard(joined)
        seconds = time.perf_counter() - started
    return Result(
        name="Spark batch join",
        events=workload.streams.events,
        seconds=seconds,
        rows_out=counted.get["rows"],
        state_rows=0,
        slice_seconds=(),
        peak_state_rows=0,
    )


def _join(spark: SparkSession, streams: AuctionStreams) -> DataFrame:
    spark.read.parquet(str(streams.auction)).createOrReplaceTempView("auction")
    spark.read.parquet(str(streams.bid)).where("_punctuation IS NULL").createOrReplaceTempView("bid")
    return spark.sql(QUERY)


def _discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()
