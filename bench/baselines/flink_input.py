"""The auction streams as Flink can read them.

The package on PyPI brings the formats csv, json and raw, and no parquet. Flink gets csv of only the columns it
needs, without the punctuation rows. raw with the line split in SQL was tried and was slower; json was not
tried, as it carries the column names in every row.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from caesura.testing import AuctionStreams


def write_csv(spark: SparkSession, streams: AuctionStreams, directory: Path) -> None:
    """One file per slice, its rows in the order of the stream."""
    for stream, columns in ((streams.auction, ("id", "category")), (streams.bid, ("auction", "price", "bidder"))):
        for slice_ in sorted(stream.glob("slice-*.parquet")):
            rows = spark.read.parquet(str(slice_)).dropna(subset=[columns[0]])  # a punctuation has no auction
            rows.select(*columns).coalesce(1).write.csv(str(directory / stream.name / slice_.stem))
