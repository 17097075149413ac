"""Several streaming queries of Spark over the auction streams, side by side, as its users run them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from caesura.testing import AuctionStreams
from caesura.testing.auction import AUCTION_SCHEMA, BID_SCHEMA


def run_queries(spark: SparkSession, streams: AuctionStreams, queries: Sequence[str], folder: Path) -> None:
    """Each to the end of the files, one file of each stream per micro-batch; rows are only counted."""
    files = spark.readStream.option("maxFilesPerTrigger", 1)
    files.schema(AUCTION_SCHEMA).parquet(str(streams.auction)).createOrReplaceTempView("auction")
    bids = files.schema(BID_SCHEMA).parquet(str(streams.bid)).where("_punctuation IS NULL")
    bids.createOrReplaceTempView("bid")
    running = [
        spark.sql(query)
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(folder / str(number)))
        .trigger(availableNow=True)
        .start()
        for number, query in enumerate(queries)
    ]
    for each in running:
        each.awaitTermination()
