"""The Spark that Caesura starts."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession


def test_settings_of_services_that_it_has_not_stay_gone_and_committers_keep_theirs(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.range(3).write.parquet(str(tmp_path / "rows"))
    assert spark.read.parquet(str(tmp_path / "rows")).count() == 3
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    assert settings.getPropsWithPrefix("ipc.").isEmpty()
    assert settings.get("yarn.resourcemanager.address") is None
    assert settings.get("mapreduce.fileoutputcommitter.algorithm.version") == "1"
    assert settings.get("fs.defaultFS") == "file:///"
