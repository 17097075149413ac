"""The same pipeline on a cluster: executors that are processes of their own, and one of them dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic, sleep

import duckdb
import pytest

pytestmark = pytest.mark.long

SLICES, ROWS = 6, 20_000
MASTER = "local-cluster[2,1,1024]"
TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'a' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'b' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK pairs USING parquet LOCATION 'pairs';
CREATE SINK sums USING parquet LOCATION 'sums';
INSERT INTO pairs SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
INSERT INTO sums SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a GROUP BY k;
"""


def prepare(folder: Path) -> None:
    (folder / "pipeline.sql").write_text(TEXT)
    random = Random(1)
    for name, column in (("a", "x"), ("b", "y")):
        (folder / name).mkdir()
        for slice in range(SLICES):
            keys = range(slice * 5_000, slice * 5_000 + 10_000)  # each is open for two slices
            rows = [{"k": random.choice(keys), column: each} for each in range(ROWS)]
            closed = {"_punctuation": json.dumps({"k": {"lt": keys.start + 5_000}})}
            (folder / name / f"{slice}.json").write_text("\n".join(map(json.dumps, (*rows, closed))))


def executors(of: int) -> list[int]:
    """The processes of executors below another."""
    processes: dict[int, int] = {}
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        try:
            pid = int(folder.name)
            processes[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes():
                found.append(pid)
        except (ValueError, OSError):
            continue
    return [pid for pid in found if of in _ancestors(pid, processes)]


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def wait_for(path: Path, pattern: str, running: subprocess.Popen[bytes]) -> None:
    end = monotonic() + 240
    while not list(path.glob(pattern)):
        assert running.poll() is None, "the run has ended"
        assert monotonic() < end, f"no {pattern} in {path}"
        sleep(0.05)


def rows(folder: Path, query: str) -> Counter[tuple[object, ...]]:
    return Counter(duckdb.connect().execute(query.format(folder=folder)).fetchall())


def test_an_executor_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    prepare(tmp_path)
    checkpoint = tmp_path / "checkpoint"
    caesura = Path(sys.executable).with_name("caesura")
    command: list[str | Path] = [caesura, "run", tmp_path / "pipeline.sql", "--until-end"]
    command += ["--checkpoint", checkpoint, "--master", MASTER]
    killed = 0
    with subprocess.Popen(command) as running:
        for slice in (1, 3):  # in the middle of the one that comes then
            wait_for(checkpoint, f"manifests/{slice:010}.json", running)
            sleep(0.3)
            victim = executors(running.pid)[0]
            os.kill(victim, signal.SIGKILL)
            killed += 1
        assert running.wait(400) == 0
    assert killed == 2
    read = "read_json('{folder}/{name}/*.json', columns = {{k: 'BIGINT', {column}: 'BIGINT'}})"
    a = read.replace("{name}", "a").replace("{column}", "x")
    b = read.replace("{name}", "b").replace("{column}", "y")
    pairs = rows(tmp_path, f"SELECT a.k, x, y FROM {a} a JOIN {b} b ON a.k = b.k")
    assert rows(tmp_path, "SELECT k, x, y FROM '{folder}/pairs/slice-*.parquet'") == pairs
    sums = rows(tmp_path, f"SELECT k, COUNT(*), SUM(x) FROM {a} a WHERE k IS NOT NULL GROUP BY k")
    assert rows(tmp_path, "SELECT k, n, s FROM '{folder}/sums/slice-*.parquet'") == sums
