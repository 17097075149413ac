"""What is set aside says which file it came in, however that file is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import caesura


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_rows_of_columnar_files(spark: SparkSession, tmp_path: Path, format: str) -> None:
    data = tmp_path / "a folder"
    spark.sql("SELECT 1L AS id, 'a' AS what UNION ALL SELECT 1L, 'b'").coalesce(1).write.format(format).save(
        str(data)
    )
    pipeline = f"""
    CREATE STREAM s (id BIGINT, what STRING, UNIQUE (id)) USING {format} LOCATION '{data}';
    SELECT DISTINCT id FROM s;"""
    query = (
        caesura.Session(spark)
        .sql(pipeline)
        .start(format="noop", checkpoint=str(tmp_path / "checkpoint"), until_end=True)
    )
    query.awaitTermination()
    (row,) = query.quarantine().collect()
    assert row["stream"] == "s"
    assert "a%20folder/part-" in row["file"]


def test_a_column_is_not_taken_for_a_figure(spark: SparkSession, tmp_path: Path) -> None:
    """`least open bids` was the least of `open bids`, and the least of `bids` that is open."""
    for slice_, (bids, opened) in enumerate(((5, 1), (6, 2))):
        row = f"SELECT {bids}L AS `open bids`, {opened}L AS bids"
        spark.sql(row).coalesce(1).write.mode("append").parquet(str(tmp_path / "data" / str(slice_)))
    pipeline = f"""
    CREATE STREAM s (`open bids` BIGINT, bids BIGINT, UNIQUE (`open bids`), PUNCTUATED BY (bids))
      USING parquet LOCATION '{tmp_path}/data/*' OPTIONS (maxFilesPerTrigger 1);
    SELECT DISTINCT `open bids`, bids FROM s;"""
    query = (
        caesura.Session(spark)
        .sql(pipeline)
        .start(format="noop", checkpoint=str(tmp_path / "checkpoint"), until_end=True)
    )
    query.awaitTermination()
    assert query.quarantine().count() == 0
