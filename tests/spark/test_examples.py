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

AUCTION = Path(__file__).parents[2] / "examples" / "auction"
A_TIME = 1_767_225_600


def test_the_auction_pipeline_is_safe_with_a_line_for_each_state() -> None:
    result = CliRunner().invoke(main, ["check", str(AUCTION / "pipeline.sql")])
    assert result.exit_code == SAFE
    said = [line.split(":")[0].strip() for line in result.output.splitlines()]
    assert said == ["winners", "join `a`", "join `b`", "group `join`", "note"]


def test_without_the_promise_it_is_refused_with_a_repair() -> None:
    result = CliRunner().invoke(main, ["check", str(AUCTION / "unsafe.sql")])
    assert result.exit_code == UNSAFE
    assert "the join state of `bid` grows without bound" in result.output
    assert "UNIQUE (id)" in result.output


@pytest.mark.parametrize("seconds_apart", [0, -1], ids=["all of one time, as in a fresh clone", "the last first"])
def test_the_auction_pipeline_gives_the_expected_winners(
    spark: SparkSession, tmp_path: Path, seconds_apart: int
) -> None:
    example = shutil.copytree(AUCTION, tmp_path / "auction", ignore=shutil.ignore_patterns("out"))
    for stream in ("auction", "bid"):
        for number, file in enumerate(sorted((example / "data" / stream).iterdir())):
            os.utime(file, (A_TIME + number * seconds_apart,) * 2)

    query = Session(spark).file(example / "pipeline.sql").start(until_end=True)
    query.awaitTermination()

    last = query.lastProgress
    assert last is not None
    assert (last.state_rows, last.quarantined_total) == (0, 0)
    assert _rows(*(example / "out" / "winners").glob("*.csv")) == _rows(AUCTION / "expected.csv")


def _rows(*files: Path) -> list[dict[str, str]]:
    rows = [row for file in files for row in csv.DictReader(file.read_text().splitlines())]
    return sorted(rows, key=lambda row: int(row["id"]))
