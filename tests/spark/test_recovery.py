"""What goes wrong with a checkpoint: leftovers of a kill, damage, two writers, a stop in the middle of a slice."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.checkpoint.lease import Lease
from caesura.checkpoint.manifest import TableVersion, last_manifest
from caesura.checkpoint.storage import LocalStorage
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.progress import Progress
from caesura.session import Session
from caesura.spark import contents as contents_module
from caesura.spark import query as query_module
from caesura.spark.contents import quarantined_rows, rows_of
from caesura.spark.sinks import FileSink
from caesura.spark.state import StateFiles
from caesura.testing.script import CORRUPT, Script

COUNTS = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT k, COUNT(*) AS n FROM a GROUP BY k;
"""


def two_slices(spark: SparkSession, folder: Path) -> Script:
    """Two keys stay open, in state that the second slice has written."""
    script = Script(spark, folder, COUNTS)
    script.slice(a=[{"k": 1, "x": 1}, {"k": 2, "x": 1}, {"k": 3, "x": 1}])
    script.slice(a=[{"k": 2, "x": 2}, '{"k": 1}'])
    script.run()
    return script


@pytest.fixture(scope="module")
def original(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    two_slices(spark, folder)
    return folder


@pytest.fixture
def stopped(spark: SparkSession, original: Path, tmp_path: Path) -> Script:
    """A copy of two slices that have run, to be damaged."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return Script(spark, tmp_path, COUNTS)


def refused(script: Script) -> str:
    with pytest.raises(CaesuraError) as failure:
        script.start()
    (diagnostic,) = failure.value.diagnostics
    assert diagnostic.because
    assert diagnostic.help
    return diagnostic.code


def test_what_a_killed_process_has_staged_is_not_published(spark: SparkSession, tmp_path: Path) -> None:
    script = two_slices(spark, tmp_path)
    published = next((tmp_path / "out").glob("slice-0000000001-*"))
    stale = tmp_path / "out" / "_caesura" / f"0000000002-{published.name.split('-')[2]}-gone-out"
    stale.mkdir(parents=True)
    shutil.copy(published, stale / "part-00000-stale.parquet")
    (stale / "_SUCCESS").touch()
    script.slice(a=[{"k": 3, "x": 2}])
    script.run_to_end()
    assert not stale.exists()
    assert script.rows("out") == [{"k": 1, "n": 1}, {"k": 2, "n": 2}, {"k": 3, "n": 2}]


def test_what_was_published_without_a_manifest_is_taken_back(spark: SparkSession, tmp_path: Path) -> None:
    """Somebody has put back the manifests of yesterday, and all that they name."""
    script = two_slices(spark, tmp_path)
    yesterday = tmp_path / "yesterday"
    shutil.copytree(script.checkpoint, yesterday)
    script.slice(a=['{"k": 2}'])
    script.run()
    assert script.rows("out") == [{"k": 1, "n": 1}, {"k": 2, "n": 2}]
    shutil.rmtree(script.checkpoint)
    shutil.copytree(yesterday, script.checkpoint)
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "n": 1}, {"k": 2, "n": 2}, {"k": 3, "n": 1}]


def one_of(pattern: str) -> Callable[[Path], Path]:
    return lambda checkpoint: sorted(checkpoint.glob(pattern))[-1]


@pytest.mark.parametrize(
    "what",
    [
        one_of("state/*/table=*/part-*"),
        one_of("state/*/table=*"),
        one_of("manifests"),
        one_of("spark"),
        one_of("spark/offsets/*"),
        one_of("spark/sources/0/*"),
        one_of("pipeline.json"),
    ],
    ids=["a part of the state", "a table", "the manifests", "spark", "offsets", "a source", "the pipeline"],
)
def test_a_checkpoint_that_lacks_something_is_refused(stopped: Script, what: Callable[[Path], Path]) -> None:
    lost = what(stopped.checkpoint)
    shutil.rmtree(lost) if lost.is_dir() else lost.unlink()
    before = sorted(stopped.folder.rglob("*"))
    assert refused(stopped) == Code.DAMAGED
    assert sorted(stopped.folder.rglob("*")) == before  # nothing was changed, and no lease is left


@pytest.mark.parametrize(
    ("pattern", "how"),
    [
        ("manifests/*.json", "empty"),
        ("pipeline.json", "cut"),
        ("state/*/table=*/part-*", "flip"),
        ("spark/offsets/1", "flip"),
    ],
)
def test_a_file_of_other_bytes_is_refused(stopped: Script, pattern: str, how: str) -> None:
    file = one_of(pattern)(stopped.checkpoint)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes({"empty": b"", "cut": bytes(content[: len(content) // 2]), "flip": bytes(content)}[how])
    assert refused(stopped) == Code.DAMAGED


def test_what_is_not_ours_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    script = two_slices(spark, tmp_path)
    strays = [script.checkpoint / "state" / "notes.txt", script.checkpoint / "manifests" / "notes.txt"]
    for stray in strays:
        stray.write_text("mine")
    script.run_to_end()
    assert len(script.rows("out")) == 3
    assert all(stray.exists() for stray in strays)


# One writer


def test_a_second_writer_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    script = two_slices(spark, tmp_path)
    other = Script(spark, tmp_path / "other", COUNTS.replace("'out'", f"'{tmp_path / 'out'}'"))
    other.slice(a=[{"k": 1, "x": 1}])
    running = script.start()
    try:
        assert refused(script) == Code.IN_USE
        assert refused(other) == Code.IN_USE
    finally:
        running.stop()
    assert running.exception() is None
    other.run_to_end()


def test_who_has_lost_its_lease_stops(spark: SparkSession, tmp_path: Path) -> None:
    script = two_slices(spark, tmp_path)
    first = script.start()
    first.processAllAvailable()
    other = Lease.take(LocalStorage(str(script.checkpoint)), "it", anyway=True)
    script.slice(a=[{"k": 2, "x": 3}])
    with pytest.raises(CaesuraError) as failure:
        first.awaitTermination(60)
    assert failure.value.diagnostics[0].code == Code.IN_USE
    other.release()
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "n": 1}, {"k": 2, "n": 3}, {"k": 3, "n": 1}]


def test_who_is_taken_over_in_the_same_process_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """Spark ends a query itself when another begins on its checkpoint."""
    first = two_slices(spark, tmp_path).start()
    first.processAllAvailable()
    second = Script(spark, tmp_path, COUNTS, take_over=True).start()
    try:
        with pytest.raises(CaesuraError) as failure:
            first.awaitTermination(60)
        assert failure.value.diagnostics[0].code == Code.IN_USE
    finally:
        second.stop()


# Places


@pytest.mark.parametrize(
    ("sink", "checkpoint", "code"),
    [
        ("a", "ck", Code.SINK),
        ("a/out", "ck", Code.SINK),
        ("out", "a/ck", Code.CHECKPOINT),
        ("out", "out", Code.CHECKPOINT),
        ("ck/manifests", "ck", Code.CHECKPOINT),
        ("out", "", Code.CHECKPOINT),
        ("out", "nowhere://host/ck", Code.CHECKPOINT),
        ("nowhere://host/out", "ck", Code.SINK),
    ],
)
def test_a_pipeline_does_not_write_to_where_it_reads(
    spark: SparkSession, tmp_path: Path, sink: str, checkpoint: str, code: Code
) -> None:
    (tmp_path / "a").mkdir()
    text = COUNTS.replace("FROM FILES a", f"USING json LOCATION '{tmp_path}/a'")
    text = text.replace("'out'", f"'{sink if ':' in sink else tmp_path / sink}'")
    where = str(tmp_path / checkpoint) if checkpoint and ":" not in checkpoint else checkpoint
    with pytest.raises(CaesuraError) as failure:
        Session(spark).sql(text).start(checkpoint=where)
    assert failure.value.diagnostics[0].code == code


def test_a_hidden_folder_of_a_sink_may_be_the_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, COUNTS)
    script.checkpoint = tmp_path / "out" / "_checkpoint"
    script.slice(a=[{"k": 1, "x": 1}])
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "n": 1}]


def test_a_start_that_finds_no_input_claims_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A place that was spelt wrongly can be put right."""
    right = Script(spark, tmp_path, COUNTS)
    right.slice(a=[{"k": 1, "x": 1}])
    wrong = Script(spark, tmp_path, COUNTS.replace("FROM FILES a", "USING json LOCATION 'b'"))
    with pytest.raises(CaesuraError) as failure:
        wrong.start()
    assert failure.value.diagnostics[0].code == Code.SOURCE
    right = Script(spark, tmp_path, COUNTS)
    right.run_to_end()
    assert right.rows("out") == [{"k": 1, "n": 1}]


# Looking into a checkpoint


def test_rows_of_a_checkpoint_that_goes_on(stopped: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a slice may be deleted while they are read, since the next is committed."""
    storage = LocalStorage(str(stopped.checkpoint))
    stale = replace(last_manifest(storage), slice=0, tables={"no longer": TableVersion()})
    manifests = [stale]
    monkeypatch.setattr(
        contents_module, "opened", lambda storage: manifests.pop() if manifests else last_manifest(storage)
    )
    rows = {name: version.rows for name, version in last_manifest(storage).tables.items()}
    groups = max(rows, key=lambda name: rows[name])
    assert len(list(rows_of(stopped.spark, storage, groups))) == rows[groups] == 2
    assert manifests == []


@pytest.mark.parametrize("how", ["cut", "file", "folder"])
def test_a_quarantine_that_is_damaged_is_refused(spark: SparkSession, tmp_path: Path, how: str) -> None:
    script = Script(spark, tmp_path, COUNTS)
    script.slice(a=[CORRUPT])
    script.run()
    storage = LocalStorage(str(script.checkpoint))
    assert len(list(quarantined_rows(spark, storage))) == 1
    (file,) = script.checkpoint.glob("state/*/table=quarantine/*.parquet")
    if how == "cut":
        file.write_bytes(file.read_bytes()[:100])
    elif how == "file":
        file.unlink()
    else:
        shutil.rmtree(file.parent)
    with pytest.raises(CaesuraError) as failure:
        list(quarantined_rows(spark, storage))
    assert failure.value.diagnostics[0].code == Code.DAMAGED


# Stopping


def test_a_stop_at_any_moment_is_no_failure_and_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, COUNTS)
    for number in range(4):
        script.slice(a=[{"k": number, "x": 1}, {"k": number + 1, "x": 1}, f'{{"k": {number}}}'])
        query = script.start()
        query._done.wait(0.3 * number)
        query.stop()
        assert query.exception() is None
        assert not query.isActive
    script.run_to_end()
    assert [row["n"] for row in script.rows("out")] == [1, 2, 2, 2, 1]


def test_who_hears_of_a_slice_may_stop(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, COUNTS)
    script.slice(a=[{"k": 1, "x": 1}])
    script.slice(a=[{"k": 1, "x": 1}])
    heard: list[int] = []

    def stop(progress: Progress) -> None:
        heard.append(progress.slice)
        query.stop()

    query = script.prepared.start(checkpoint=str(script.checkpoint), on_progress=stop)
    assert query.awaitTermination(60)
    assert heard == [0]


def test_a_slice_that_takes_too_long_is_abandoned(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_module, "_PATIENCE", 0.2)
    script = Script(spark, tmp_path, COUNTS)
    script.slice(a=[{"k": 1, "x": 1}])
    write = StateFiles.write

    def slow(files: StateFiles, *given: object) -> object:
        files._spark.range(40_000_000_000).selectExpr("sum(id % 7)").collect()
        return write(files, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(StateFiles, "write", slow)
        query = script.start()
        query._done.wait(5)
        query.stop()
    assert query.exception() is None, query.exception()
    assert script.progress == []
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "n": 1}]


def test_a_slice_that_is_committed_and_not_delivered_says_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script(spark, tmp_path, COUNTS)
    script.slice(a=[{"k": 1, "x": 1}, '{"k": 1}'])

    def fails(*_: object) -> None:
        raise OSError("read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(FileSink, "publish", fails)
        with pytest.raises(CaesuraError) as failure:
            script.run()
    assert failure.value.diagnostics[0].message == "slice 0 is committed, and its results cannot be delivered"
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "n": 1}]


# Lines of JSON


def test_nothing_of_a_line_is_lost_without_a_word(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (k BIGINT, x DOUBLE, t TIMESTAMP, d DECIMAL(5, 2)) FROM FILES a;
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT k, x, t, d FROM a;
        """,
    )
    lines = {
        '{"k": 1} {"k": 2}': "there is more on the line than one JSON object",
        '{"k": 1} and more': "there is more on the line than one JSON object",
        '{"k": 1}, {"k": 2}': "there is more on the line than one JSON object",
        '{"k": 1} ] [ {"k": 2}': "there is more on the line than one JSON object",
        "[]": "it is no JSON object",
        '[{"k": 1}]': "it is no JSON object",
        "null": "it is no JSON object",
        "7": "it is no JSON object",
        '{"k": 1': "it is no JSON object",
        '{"k": 1, "x": 1e400}': "`x` is too large for DOUBLE",
        '{"K": 6}': '"K" is no column: letters of another case',
        '{"_PUNCTUATION": "{}"}': '"_PUNCTUATION" is no column: letters of another case',
        '{"k": "NA", "x": 1.5}': "`k`: 'NA' is no BIGINT",
        '{"k": 1, "x": "a lot", "t": "yesterday"}': (
            "`x`: 'a lot' is no DOUBLE, `t`: 'yesterday' is no TIMESTAMP"
        ),
        '{"k": 1, "d": 12345.6}': "`d`: '12345.6' is no DECIMAL(5, 2)",
    }
    good = [
        '{"k": 1, "x": 1.5, "t": "2026-01-01T00:00:00Z", "d": 1.25}',
        ' {"k": 2, "x": "Infinity"} ',
        '{"k": 3, "x": null, "other": {"deep": "}"}}',
        '{"other": "K", "k": 4}',
        '\t{"k": 5, "x": NaN, "other": {"deep": 1}}',
        '{"k": 6, "K": 7, "x": null}',
        "",
        " \t ",
    ]
    script.slice(a=[])
    (file,) = (tmp_path / "a").iterdir()
    modified = file.stat().st_mtime
    file.write_text("\n".join([*good, *lines]) + "\n", encoding="utf-8")
    os.utime(file, (modified, modified))
    query = script.run_to_end()
    found = {row: reason for _, _, reason, row in script.quarantine(query)}
    assert found == {line: f"the row cannot be parsed: {why}" for line, why in lines.items()}
    assert [row["k"] for row in script.rows("out")] == [1, 2, 3, 4, 5, 6]
    files = {row["file"] for row in query.quarantine().select("file").distinct().collect()}
    assert {Path(each).name for each in files} == {file.name}


def test_columns_in_the_names_of_folders_and_punctuations_of_bad_lines(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (k BIGINT, x INT, day DATE, PUNCTUATED BY (k)) USING json LOCATION 'a';
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT k, day, COUNT(*) AS n FROM a GROUP BY k, day;
        """,
    )
    folder = tmp_path / "a" / "day=2026-01-02"
    folder.mkdir(parents=True)
    bad = '{"x": "NA", "_punctuation": "{\\"k\\": 1}"}'
    (folder / "0.json").write_text(f'{{"k": 1, "x": 1}}\n{bad}\n', encoding="utf-8")
    query = script.run()
    assert script.rows("out") == []  # nothing was closed by a line that is set aside
    assert [row for _, _, _, row in script.quarantine(query)] == [bad]
    script.run_to_end()
    assert script.rows("out") == [{"k": 1, "day": date(2026, 1, 2), "n": 1}]


def test_a_row_with_an_empty_punctuation_is_shown_with_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, COUNTS)
    script.slice(a=[{"k": 1, "x": 2, "_punctuation": ""}])
    query = script.run_to_end()
    ((_, _, reason, row),) = script.quarantine(query)
    assert reason == "the punctuation cannot be read: it is not JSON"
    assert json.loads(row) == {"k": 1, "x": 2, "punctuation": ""}


def test_the_column_and_value_of_a_bad_line_of_csv_are_named(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (k BIGINT, rating INT) USING csv LOCATION 'a' OPTIONS (header true);
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT k, rating FROM a;
        """,
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.csv").write_text("k,rating\n1,5\n2,NA\n", encoding="utf-8")
    query = script.run_to_end()
    ((_, _, reason, row),) = script.quarantine(query)
    assert (reason, row) == ("the row cannot be parsed: `rating`: 'NA' is no INT", "2,NA")
