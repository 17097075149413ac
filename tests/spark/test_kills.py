"""Killed at each place of a slice, started again with other input: no row is lost, and none comes twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from time import monotonic, sleep, time

import duckdb
import pytest
from pyspark.sql import SparkSession

from caesura.checkpoint.failpoints import POINTS, VARIABLE
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Item, Script
from tests.spark.power import ANY, killed

KILLS = int(os.environ.get("CAESURA_KILLS", "2"))
"""At each place, for each pipeline."""
RANDOM = 9
"""As many times more at any place."""
CHANGES = 30
"""Of files, in a run of one or two slices; where it has fewer, it is not killed."""
REAL = 11
"""Processes that are killed at any moment."""

STREAMS = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) FROM FILES b;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out
"""
QUERIES = {
    "join": "SELECT a.k, a.x, b.y FROM a JOIN b ON a.k = b.k",
    "group": "SELECT a.k, COUNT(*) AS n, SUM(x) AS s FROM a GROUP BY a.k",
    "distinct": "SELECT DISTINCT a.k, a.x FROM a",
    "left join": "SELECT a.k, a.x, b.y FROM a LEFT JOIN b ON a.k = b.k",
}


def add_slice(script: Script, number: int, random: Random) -> None:
    """Rows of two keys that are open, and the end of the older one."""
    arrivals: dict[str, list[Item]] = {}
    for name, column in (("a", "x"), ("b", "y")):
        keys = [random.choice((number, number + 1)) for _ in range(random.randrange(1, 4))]
        rows: list[Item] = [{"k": key, column: random.randrange(3)} for key in keys]
        arrivals[name] = [*rows, f'{{"k": {number}}}']
    script.slice(**arrivals)


def expected(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect()
    for name in ("a", "b"):
        files = f"read_json('{folder}/{name}/*.json', union_by_name = true)"
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {files} WHERE _punctuation IS NULL")
    return sorted(connection.execute(query).fetchall(), key=repr)


@pytest.mark.long
@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("point", [*POINTS, ANY])
def test_nothing_is_lost_or_doubled(
    spark: SparkSession,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    point: str,
    query: str,
    lazy: bool,
) -> None:
    random = Random(f"{point} {query} {lazy}")
    policy = PurgePolicy(eager_rows=0, max_deltas=3) if lazy else PurgePolicy()
    script = Script(spark, tmp_path, f"{STREAMS} {query};", purge=policy, take_over=True)
    number = kills = 0
    for _ in range(KILLS * RANDOM if point == ANY else KILLS):
        slices = random.randrange(1, 3)
        for _ in range(slices):
            add_slice(script, number, random)
            number += 1
        kills += killed(script, point, random.randint(1, CHANGES if point == ANY else slices))
        if random.random() < 0.5:
            add_slice(script, number, random)  # what comes with the slice that is done again
            number += 1
    script.run_to_end()
    assert kills
    record_property("kills", kills)
    assert sorted((tuple(row.values()) for row in script.rows("out")), key=repr) == expected(tmp_path, query)
    left = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith("slice-")}
    assert left <= {"_caesura"}
    assert list((tmp_path / "out" / "_caesura").iterdir()) == []


@pytest.mark.long
def test_nothing_is_lost_or_doubled_by_real_kills(
    spark: SparkSession, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Processes that are killed: at each place, and then at moments around the slice that they have to do."""
    random, query = Random("real"), QUERIES["left join"]
    script = Script(spark, tmp_path, f"{STREAMS} {query};")
    caesura = Path(sys.executable).with_name("caesura")
    command: list[str | Path] = [caesura, "run", script.file, "--checkpoint", script.checkpoint]
    for number, point in enumerate([*POINTS, *["a moment"] * REAL]):
        add_slice(script, number, random)
        if point in POINTS:
            ended = subprocess.run(command, env={**os.environ, VARIABLE: point}, check=False)
            assert ended.returncode == -signal.SIGKILL
        else:
            _kill_in_slice(command, script, random.uniform(0, 2))
    subprocess.run([*command, "--until-end"], check=True)
    record_property("kills", len(POINTS) + REAL)
    assert sorted((tuple(row.values()) for row in script.rows("out")), key=repr) == expected(tmp_path, query)


def _kill_in_slice(command: list[str | Path], script: Script, after: float) -> None:
    """Kill a run and its JVM some seconds after it has found new input, wherever that is."""
    start = time()
    with subprocess.Popen(command, start_new_session=True) as running:
        end = monotonic() + 120
        while not _touched(script.checkpoint / "spark" / "offsets", start):
            assert running.poll() is None
            assert monotonic() < end
            sleep(0.02)
        sleep(after)
        os.killpg(running.pid, signal.SIGKILL)


def _touched(folder: Path, since: float) -> bool:
    """Whether it has a file that is newer."""
    with suppress(FileNotFoundError):
        return any(path.stat().st_mtime > since for path in folder.glob("[0-9]*"))
    return False
