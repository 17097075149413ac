"""Spark's own stream-stream join. It cannot know that an auction has ended, so every row stays in its state."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from bench.result import Result
from bench.session import spark_session
from bench.workload import QUERY, Workload, warm_up
from caesura.testing import AuctionStreams
from caesura.testing.auction import AUCTION_SCHEMA, BID_SCHEMA

IN_MEMORY: Mapping[str, str] = {}  # Spark's default: hash maps on the heap
ROCKSDB: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def spark_join_in_memory(workload: Workload) -> Result:
    return _spark_join("Spark stream join, heap state", workload, IN_MEMORY)


def spark_join_rocksdb(workload: Workload) -> Result:
    return _spark_join("Spark stream join, RocksDB state", workload, ROCKSDB)


def _spark_join(name: str, workload: Workload, state_store: Mapping[str, str]) -> Result:
    with spark_session(workload.memory, state_store) as spark:
        warm_up(lambda: _run(spark, workload.warm_up, workload.scratch()), workload.seconds)
        checkpoint = workload.scratch()
        started = time.perf_counter()
        slices = _run(spark, workload.streams, checkpoint)
        seconds = time.perf_counter() - started
    return stream_result(name, workload.streams.events, seconds, slices)


def stream_result(name: str, events: int, seconds: float, slices: Sequence[StreamingQueryProgress]) -> Result:
    """What a streaming query of Spark with state gave, by its slices."""
    states = [operator for slice_ in slices for operator in slice_.stateOperators]
    return Result(
        name=name,
        events=events,
        seconds=seconds,
        rows_out=sum(slice_.sink.numOutputRows for slice_ in slices),
        state_rows=states[-1].numRowsTotal,
        slice_seconds=tuple(slice_.durationMs["triggerExecution"] / 1000 for slice_ in slices),
        peak_state_rows=max(state.numRowsTotal for state in states),
        state_bytes=states[-1].memoryUsedBytes,
    )


def _run(spark: SparkSession, streams: AuctionStreams, checkpoint: Path) -> list[StreamingQueryProgress]:
    """Join the whole streams, one file of each per micro-batch, and say how each slice went."""
    files = spark.readStream.option("maxFilesPerTrigger", 1)
    files.schema(AUCTION_SCHEMA).parquet(str(streams.auction)).createOrReplaceTempView("auction")
    bids = files.schema(BID_SCHEMA).parquet(str(streams.bid)).where("_punctuation IS NULL")
    bids.createOrReplaceTempView("bid")
    return run_stream(spark.sql(QUERY), checkpoint)


def run_stream(query: DataFrame, checkpoint: Path, folder: Path | None = None) -> list[StreamingQueryProgress]:
    """To the end of the files; rows go to a folder, or are only counted."""
    writer = query.writeStream.format("noop" if folder is None else "parquet")
    if folder is not None:
        writer = writer.option("path", str(folder))
    running = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    running.awaitTermination()
    return [slice_ for slice_ in running.recentProgress if slice_.numInputRows > 0]
