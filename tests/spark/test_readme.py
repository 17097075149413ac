"""The examples of the README do on Spark what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from caesura.cli import main
from tests.docs.fences import README


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that the examples read: the bids are those of the page."""
    (bids,) = (block.text for block in README.of("json") if block.words == ("bid",))
    auctions = '{"id": 1, "seller": 7}\n{"id": 2, "seller": 8}\n'
    for name, rows in {"auction": auctions, "bid": bids}.items():
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "1.json").write_text(rows, encoding="utf-8")
    return tmp_path


def rows(spark: SparkSession, format: str, path: Path) -> list[dict[str, object]]:
    found = spark.read.format(format).load(str(path)).collect()
    return sorted((row.asDict() for row in found), key=lambda row: str(row["price"]))


def test_the_pipeline_runs_from_the_command_line(spark: SparkSession, folder: Path) -> None:
    (pipeline,) = (block.text for block in README.of("sql") if "INSERT" in block.text)
    (folder / "winners.sql").write_text(pipeline, encoding="utf-8")
    result = CliRunner().invoke(main, ["run", str(folder / "winners.sql"), "--until-end"], catch_exceptions=False)
    assert result.exit_code == 0
    assert rows(spark, "json", folder / "out" / "winners") == [
        {"id": 1, "seller": 7, "price": 12.5},
        {"id": 2, "seller": 8, "price": 7.0},
    ]


def test_the_session_runs_from_python(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = README.of("python")
    # Spark resolves a relative path in the directory where its JVM was started.
    exec(example.text.replace('"data/', f'"{folder}/data/').replace('"out/', f'"{folder}/out/'), {})
    assert "select_1 safe" in capsys.readouterr().out
    assert rows(spark, "parquet", folder / "out" / "prices") == [
        {"auction": 1, "price": 12.5},
        {"auction": 2, "price": 7.0},
    ]
