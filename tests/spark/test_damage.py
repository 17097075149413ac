"""Each file of a checkpoint is damaged in turn: the run gives the right rows, or is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Script

TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) FROM FILES b;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT a.k, a.x, b.y FROM a JOIN b ON a.k = b.k;
"""
REFUSALS = {Code.DAMAGED, Code.OTHER_FORMAT, Code.CHECKPOINT, Code.SLICE_FAILED, Code.OTHER_PIPELINE}


def prepared(spark: SparkSession, folder: Path) -> tuple[Script, Path]:
    """A checkpoint after three slices, with a base and deltas, and what it was after two."""
    script = Script(spark, folder, TEXT, purge=PurgePolicy(eager_rows=0, max_deltas=3))
    earlier = folder / "earlier"
    for number in range(3):
        a = [{"k": number, "x": 1}, {"k": number + 1, "x": 2}]
        script.slice(a=[*a, f'{{"k": {number - 1}}}'], b=[{"k": number - 1, "y": 1}, {"k": number, "y": 2}, "bad"])
        if number == 2:
            shutil.copytree(script.checkpoint, earlier)
        script.run()
    return script, earlier


def damages(file: Path, older: Path) -> Iterator[tuple[str, bytes | None]]:
    """What becomes of a file: None if it is gone."""
    content = file.read_bytes()
    yield "deleted", None
    yield "cut", content[: len(content) // 2]
    for at in {0, len(content) // 3, len(content) // 2, len(content) - 1} if content else ():
        yield f"byte {at} flipped", content[:at] + bytes((content[at] ^ 0x11,)) + content[at + 1 :]
    if older.exists() and older.read_bytes() != content:
        yield "older", older.read_bytes()
    siblings = sorted(each for each in file.parent.iterdir() if each.is_file() and each != file)
    if siblings:
        yield "another", siblings[0].read_bytes()


@pytest.mark.long
def test_damage_gives_no_wrong_rows(spark: SparkSession, tmp_path: Path) -> None:
    original, earlier = prepared(spark, tmp_path / "original")
    kept = tmp_path / "kept"
    shutil.copytree(original.folder, kept)
    original.run_to_end()
    right = original.rows("out")
    assert right
    wrong, outcomes = list[str](), {"right": 0, "refused": 0}
    names = [path.relative_to(kept) for path in sorted((kept / "checkpoint").rglob("*")) if path.is_file()]
    for name in names:
        older = earlier / name.relative_to("checkpoint")
        for how, content in list(damages(kept / name, older)):
            shutil.rmtree(original.folder)
            shutil.copytree(kept, original.folder)  # the same place: Spark has noted its paths
            damaged = original.folder / name
            damaged.unlink() if content is None else damaged.write_bytes(content)
            try:
                original.run_to_end()
            except CaesuraError as error:
                if error.diagnostics[0].code not in REFUSALS:
                    wrong.append(f"{name} {how}: {error.diagnostics[0].message}")
                outcomes["refused"] += 1
                continue
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{name} {how}: uncaught {error!r}"[:300])
                continue
            outcomes["right"] += 1
            if original.rows("out") != right:
                wrong.append(f"{name} {how}: wrong rows")
    assert wrong == []
    assert outcomes["refused"] > len(names)
    print(outcomes)
