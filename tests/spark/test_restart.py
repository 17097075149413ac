"""A query stops, crashes and starts again: each row is delivered once, and nothing is left behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import duckdb
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from caesura.checkpoint.storage import LocalStorage as Storage
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.operators.operator import Changes
from caesura.operators.rows import Rows
from caesura.spark import slice as slice_module
from caesura.spark import state as state_module
from caesura.spark.purge import PurgePolicy
from caesura.spark.sinks import FileSink
from caesura.spark.state import StateFiles
from caesura.testing.script import Item, Script

WINNERS = """
CREATE STREAM auction (id BIGINT, seller BIGINT, UNIQUE (id)) FROM FILES auction;
CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) FROM FILES bid;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out
SELECT a.id, a.seller, MAX(b.price) AS price, COUNT(*) AS bids
FROM auction AS a JOIN bid AS b ON a.id = b.auction GROUP BY a.id, a.seller;
"""
HIGHEST = """
CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) FROM FILES bid;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT auction, MAX(price) AS price, COUNT(*) AS bids FROM bid GROUP BY auction;
"""
LAZY = PurgePolicy(eager_rows=0, max_deltas=3)


def add_slices(script: Script, first: int, last: int) -> None:
    """Each slice opens an auction, brings bids for it and for its neighbours, and closes the one before."""
    for i in range(first, last):
        bids: list[Item] = [{"auction": j, "price": float(10 * i + j)} for j in (i - 1, i, i, i + 1)]
        arrivals: dict[str, list[Item]] = {
            "auction": [{"id": i, "seller": i % 2}],
            "bid": [*bids, f'{{"auction": {i - 1}}}'],
        }
        script.slice(**{name: arrivals[name] for name in script.streams})


def highest(folder: Path) -> list[tuple[object, ...]]:
    bid = f"read_json('{folder}/bid/*.json', union_by_name = true)"
    query = f"SELECT auction, max(price), count(*) FROM {bid} WHERE _punctuation IS NULL GROUP BY ALL ORDER BY ALL"
    return duckdb.connect().execute(query).fetchall()


def winners(folder: Path) -> list[tuple[object, ...]]:
    """What DuckDB makes of all rows of the streams."""
    auction, bid = (f"read_json('{folder}/{name}/*.json', union_by_name = true)" for name in ("auction", "bid"))
    query = f"""
        SELECT a.id, a.seller, max(b.price), count(*) FROM {auction} a
        JOIN (SELECT * FROM {bid} WHERE _punctuation IS NULL) b ON a.id = b.auction GROUP BY ALL ORDER BY ALL
    """
    return duckdb.connect().execute(query).fetchall()


def delivered(script: Script) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in script.rows("out")]


def test_a_query_continues_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """With state in bases and deltas; a state written anew at every slice is the simpler case."""
    script = Script(spark, tmp_path, WINNERS, purge=LAZY)
    add_slices(script, 0, 3)
    script.run()
    so_far = delivered(script)
    assert so_far
    assert set(so_far) <= set(winners(tmp_path))
    add_slices(script, 3, 5)
    script.run_to_end()
    assert delivered(script) == winners(tmp_path)
    assert [progress.slice for progress in script.progress] == [0, 1, 2, 3, 4, 5]


def crashes(done: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; the second time all ends when its work is done."""
    calls = 0

    def crash(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        result = done(*arguments, **named)
        if calls > 1:
            raise OSError("the lights went out")
        return result

    return crash


@pytest.mark.parametrize(
    ("owner", "step", "text"),
    [
        (FileSink, "stage", HIGHEST),
        (StateFiles, "write", WINNERS),
        (slice_module, "commit", WINNERS),
        (FileSink, "publish", HIGHEST),
    ],
    ids=["results", "state", "commit", "delivery"],
)
def test_a_crash_between_any_two_steps_of_a_slice_loses_nothing_and_repeats_nothing(
    spark: SparkSession, tmp_path: Path, owner: object, step: str, text: str
) -> None:
    script = Script(spark, tmp_path, text)
    add_slices(script, 0, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_module, "_TOGETHER", 1)  # several jobs write the state
        patch.setattr(owner, step, crashes(getattr(owner, step)))
        with pytest.raises(CaesuraError) as failure:
            script.run_to_end()
    assert failure.value.diagnostics[0].code == Code.SLICE_FAILED
    assert failure.value.diagnostics[0].because == ("the lights went out",)
    script.run_to_end()
    assert delivered(script) == (highest if text == HIGHEST else winners)(tmp_path)
    assert len(list((script.checkpoint / "state").iterdir())) <= 1  # nothing is left of the slices before


def test_a_crash_in_the_middle_of_a_delivery_is_made_good(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, HIGHEST)
    add_slices(script, 0, 3)
    move: Callable[[Storage, tuple[str, ...], tuple[str, ...]], None] = Storage.move
    moved: list[str] = []

    def crash(storage: Storage, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        if target[0].startswith("slice-0000000001"):
            if moved:
                raise OSError("the lights went out")
            moved.append(target[0])
        move(storage, source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "move", crash)
        try:
            script.run_to_end()
        except CaesuraError:
            assert moved
    script.run_to_end()
    assert delivered(script) == highest(tmp_path)


def test_a_checkpoint_of_another_pipeline_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, HIGHEST)
    add_slices(script, 0, 1)
    script.run_to_end()
    reformatted = HIGHEST.replace("SELECT", "select  -- a comment\n")
    script.file.write_text(Script(spark, tmp_path, reformatted).file.read_text())
    script.run_to_end()
    script.file.write_text(script.file.read_text().replace("MAX(price)", "MIN(price)"))
    with pytest.raises(CaesuraError) as refusal:
        script.start()
    (diagnostic,) = refusal.value.diagnostics
    assert diagnostic.code == Code.OTHER_PIPELINE
    assert str(script.checkpoint) in diagnostic.message
    assert "MIN(price)" in diagnostic.because[0]


def test_streams_that_have_ended_stay_so(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, HIGHEST)
    add_slices(script, 0, 2)
    script.run_to_end()
    before, slices = delivered(script), len(script.progress)
    add_slices(script, 2, 3)
    query = script.run_to_end()
    assert (delivered(script), len(script.progress)) == (before, slices)
    assert query.lastProgress is None
    assert not query.isActive


def callbacks() -> int:
    """What the JVM may call in this process, since something there still holds it."""
    return len(SparkContext._gateway.gateway_property.pool.dict)  # type: ignore[union-attr]


def test_a_query_that_has_ended_is_held_by_nobody(spark: SparkSession, tmp_path: Path) -> None:
    """Neither in this process nor in the JVM, whose collectors do not know of each other."""
    script = Script(spark, tmp_path, HIGHEST)
    before = callbacks()
    add_slices(script, 0, 1)
    query = weakref.ref(script.run())
    end = monotonic() + 20
    while (query() is not None or callbacks() > before) and monotonic() < end:
        gc.collect()
        spark._jvm.System.gc()  # type: ignore[union-attr]
        sleep(0.1)
    assert query() is None
    assert callbacks() <= before


def nodes(rows: Rows, spark: SparkSession) -> int:
    return str(rows.frame(spark)._jdf.queryExecution().analyzed().toString()).count("\n")


@pytest.mark.long
def test_plans_and_files_do_not_grow_with_the_number_of_slices(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is written anew every `cycle` slices at the latest, and then its plan is at its largest."""
    cycle = 4
    sizes: list[int] = []
    write = StateFiles.write

    def measured(files: StateFiles, slice: int, changes: Changes, *more: Any) -> Any:
        changed = (change.rows for change in changes.values() if change.rows is not None)
        sizes.append(sum(nodes(rows, files._spark) for rows in changed))
        return write(files, slice, changes, *more)

    monkeypatch.setattr(StateFiles, "write", measured)
    script = Script(spark, tmp_path, HIGHEST, purge=LAZY)
    add_slices(script, 0, 4 + 2 * cycle)
    script.run()
    assert max(sizes[-cycle:]) <= max(sizes[-2 * cycle : -cycle])
    assert len(list((script.checkpoint / "state").iterdir())) <= 3 + cycle
    assert len(list((script.checkpoint / "manifests").glob("*.json"))) <= 2
    assert script.progress[-1].state_rows <= 8 * cycle
