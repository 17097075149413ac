"""A slice fails that sets too much aside, before anybody sees its results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from caesura.checkpoint.manifest import Result
from caesura.diagnostics import CaesuraError
from caesura.session import Session
from caesura.spark.sinks import FormatSink

TEXT = """
CREATE STREAM a (k BIGINT) USING json LOCATION 'a' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK out USING noop;
INSERT INTO out SELECT k FROM a;
"""


def test_rows_that_cannot_be_taken_back_are_not_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a slice that is surveyed first, nor by one that is taken to be like the one before."""
    staged = list[int]()
    stage = FormatSink.stage

    def noted(sink: FormatSink, slice: int, rows: DataFrame, *, ends: bool) -> Result:
        staged.append(slice)
        return stage(sink, slice, rows, ends=ends)

    monkeypatch.setattr(FormatSink, "repeatable", False)
    monkeypatch.setattr(FormatSink, "stage", noted)
    (tmp_path / "a").mkdir()
    (tmp_path / "pipeline.sql").write_text(TEXT)
    for number, lines in enumerate(('{"k": 1}\n{"k": 2}', '{"k": 1}\n{"k": "NA"}\n{"k": "NA"}')):
        (tmp_path / "a" / f"{number}.json").write_text(lines)
        query = Session(spark).file(tmp_path / "pipeline.sql")
        run = query.start(checkpoint=str(tmp_path / "checkpoint"), max_quarantined=0.5, until_end=number == 1)
        if number == 0:
            run.processAllAvailable()
            run.stop()
        else:
            with pytest.raises(CaesuraError, match="set aside"):
                run.awaitTermination()
    assert staged == [0]
