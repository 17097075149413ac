"""Punctuated streams on Spark are those of plain Python, and the page about them writes them as it says."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from caesura.testing import ArrivalPattern, PunctuatedStream, write_punctuated_streams
from caesura.testing.punctuated import EPOCH, MICROSECOND
from tests.docs.fences import TESTING

Arrival = tuple[int | None, int | None, str | None]


def plain(stream: PunctuatedStream) -> list[Arrival]:
    """(key, at in microseconds, punctuation)"""

    def arrival(item: Any) -> Arrival:
        if isinstance(item, str):
            return None, None, item
        return item["key"], (item["at"] - EPOCH) // MICROSECOND, None

    return [arrival(item) for item in stream.items()]


@pytest.mark.parametrize(
    "stream",
    [
        PunctuatedStream(
            ArrivalPattern.parse("cluster-desc-1"), rows=100, seed=1, irrelevant=True
        ),  # and some are empty
        PunctuatedStream(ArrivalPattern.parse("uniform-12"), rows=200, inter_arrival=timedelta(microseconds=5)),
    ],
    ids=lambda stream: str(stream.pattern),
)
def test_the_dataframe_has_the_items_in_their_order(spark: SparkSession, stream: PunctuatedStream) -> None:
    found = stream.dataframe(spark).orderBy("position").selectExpr("key", "unix_micros(at)", "_punctuation")
    assert [(*row,) for row in found.collect()] == plain(stream)


def test_the_page_writes_streams_whose_slices_are_of_the_same_time(spark: SparkSession, tmp_path: Path) -> None:
    example, _ = TESTING.of("python")
    defined: dict[str, Any] = {}
    exec(example.text.replace('"data"', f'"{tmp_path}"'), defined)
    for name, stream in defined["streams"].items():
        slices = [
            duckdb.execute('SELECT key, epoch_us("at"), _punctuation FROM read_parquet(?)', [str(file)]).fetchall()
            for file in sorted((tmp_path / name).iterdir())
        ]
        assert [arrival for each in slices for arrival in each] == plain(stream)
        third = (stream.expected_end - stream.start) // MICROSECOND // 3
        start = (stream.start - EPOCH) // MICROSECOND
        times = [[at - start for _, at, _ in each if at is not None] for each in slices]
        assert all(k * third <= min(each) for k, each in enumerate(times))
        assert all(max(each) < (k + 1) * third for k, each in enumerate(times[:-1]))


def test_streams_with_different_keys_are_not_written_together(spark: SparkSession, tmp_path: Path) -> None:
    patterns = {name: ArrivalPattern.parse(f"cluster-asc-{size}") for name, size in (("a", 5), ("b", 2))}
    streams = {name: PunctuatedStream(pattern, rows=100) for name, pattern in patterns.items()}
    with pytest.raises(ValueError, match="the same number of keys"):
        write_punctuated_streams(spark, tmp_path, streams, slices=2)
