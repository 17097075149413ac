"""The examples give what they say, in whatever order their files are read."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from caesura import Session
from caesura.cli import SAFE, UNSAFE, main

EXAMPLES = Path(__file__).parents[2] / "examples"
AUCTION, WAREHOUSE = EXAMPLES / "auction", EXAMPLES / "warehouse"
A_TIME = 1_767_225_600


def test_the_auction_pipeline_is_safe_with_a_line_for_each_state() -> None:
    result = CliRunner().invoke(main, ["check", str(AUCTION / "pipeline.sql")])
    assert result.exit_code == SAFE
    said = [line.split(":")[0].strip() for line in result.output.splitlines()]
    assert said == ["winners", "join `a`", "join `b`", "group `join`", "note"]


def test_the_warehouse_pipeline_is_safe_with_a_line_for_each_state() -> None:
    result = CliRunner().invoke(main, ["check", str(WAREHOUSE / "pipeline.sql")])
    assert result.exit_code == SAFE
    said = [line.split(":")[0].strip() for line in result.output.splitlines()]
    assert said == ["hottest", "distinct `union`", "group `reports`", "note"]


def test_without_the_promise_the_auction_pipeline_is_refused_with_a_repair() -> None:
    result = CliRunner().invoke(main, ["check", str(AUCTION / "unsafe.sql")])
    assert result.exit_code == UNSAFE
    assert "the join state of `bid` grows without bound" in result.output
    assert "UNIQUE (id)" in result.output


def test_with_the_promise_of_one_sensor_the_warehouse_pipeline_is_refused_with_a_repair() -> None:
    result = CliRunner().invoke(main, ["check", str(WAREHOUSE / "unsafe.sql")])
    assert result.exit_code == UNSAFE
    assert "repair: add PUNCTUATED BY (hour) to `sensor2`" in result.output


@pytest.mark.parametrize(
    ("original", "sink", "seconds_apart"),
    [
        pytest.param(AUCTION, "winners", 0, id="auction, all of one time, as in a fresh clone"),
        pytest.param(WAREHOUSE, "hottest", -1, id="warehouse, the last first", marks=pytest.mark.long),
    ],
)
def test_a_pipeline_gives_what_is_expected(
    spark: SparkSession, tmp_path: Path, original: Path, sink: str, seconds_apart: int
) -> None:
    example = shutil.copytree(original, tmp_path / original.name, ignore=shutil.ignore_patterns("out"))
    for stream in (example / "data").iterdir():
        for number, file in enumerate(sorted(stream.iterdir())):
            os.utime(file, (A_TIME + number * seconds_apart,) * 2)

    query = Session(spark).file(example / "pipeline.sql").start(until_end=True)
    query.awaitTermination()

    last = query.lastProgress
    assert last is not None
    assert (last.state_rows, last.quarantined_total) == (0, 0)
    assert _rows(*(example / "out" / sink).glob("*.csv")) == _rows(original / "expected.csv")


def _rows(*files: Path) -> list[dict[str, str]]:
    """Sorted by the first column, a number."""
    rows = [row for file in files for row in csv.DictReader(file.read_text().splitlines())]
    return sorted(rows, key=lambda row: int(next(iter(row.values()))))
