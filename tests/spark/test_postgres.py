"""Killed around the commit of a slice whose results go to PostgreSQL: no row is lost, and none comes twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from caesura.checkpoint.failpoints import VARIABLE
from caesura.spark.database import Database
from caesura.testing.script import Item, Script
from tests.spark.postgres import DRIVER, postgres
from tests.spark.power import killed

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("CAESURA_KILLS", "5"))
"""At each place."""
PLACES = (
    ("results staged", 1),
    ("ready", 1),
    ("prepared", 1),
    ("committed", 1),
    ("half published", 1),  # in the transaction
    ("half published", 2),  # after it
    ("published", 1),
)
TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) FROM FILES a;
CREATE SINK counts USING jdbc OPTIONS (url '{url}', dbtable 'counts');
CREATE SINK seen USING jdbc OPTIONS (url '{url}', dbtable 'seen');
INSERT INTO counts SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a GROUP BY k;
INSERT INTO seen SELECT k, x FROM a;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as url:
        yield url


class Expected:
    def __init__(self) -> None:
        self.slices, self.seen = 0, list[tuple[int, int]]()

    def add(self, script: Script, random: Random) -> None:
        """Rows of two keys that are open, and the end of the older one."""
        keys = [self.slices, *(random.choice((self.slices, self.slices + 1)) for _ in range(random.randrange(4)))]
        rows = [(key, random.randrange(9)) for key in keys]
        items: list[Item] = [{"k": key, "x": x} for key, x in rows]
        script.slice(a=[*items, f'{{"k": {self.slices}}}'])
        self.seen += rows
        self.slices += 1

    @property
    def counts(self) -> list[tuple[int, int, int]]:
        number, total = Counter[int](), Counter[int]()
        for key, x in self.seen:
            number[key] += 1
            total[key] += x
        return sorted((key, number[key], total[key]) for key in number)


def rows(database: Database, table: str) -> list[tuple[object, ...]]:
    frame = database.spark.read.format("jdbc").options(**database.options, dbtable=table).load()
    return sorted(map(tuple, frame.collect()))


def fresh(server: str, spark: SparkSession) -> Database:
    assert DRIVER.exists(), "make test-crash installs it"
    database = Database(spark, {"url": server})
    with database.transaction() as transaction:
        for table in ("counts", "seen", "caesura_slices"):
            transaction.execute(f"DROP TABLE IF EXISTS {table}")
    return database


def require_exactly(database: Database, expected: Expected) -> None:
    assert rows(database, "counts") == expected.counts
    assert rows(database, "seen") == sorted(expected.seen)
    with database.transaction() as transaction:
        assert transaction.tables("caesura_") == ("caesura_slices",)


def test_nothing_is_lost_or_doubled(spark: SparkSession, server: str, tmp_path: Path) -> None:
    database = fresh(server, spark)
    script = Script(spark, tmp_path, TEXT.format(url=server), take_over=True)
    random, expected, kills = Random(1), Expected(), 0
    for _ in range(KILLS):
        for point, times in PLACES:
            expected.add(script, random)
            kills += killed(script, point, times)
            if random.random() < 0.5:
                expected.add(script, random)
    script.run_to_end()
    assert kills == KILLS * len(PLACES)
    require_exactly(database, expected)


def test_nothing_is_lost_or_doubled_by_real_kills(spark: SparkSession, server: str, tmp_path: Path) -> None:
    database = fresh(server, spark)
    script = Script(spark, tmp_path, TEXT.format(url=server))
    random, expected = Random(2), Expected()
    caesura = Path(sys.executable).with_name("caesura")
    command: list[str | Path] = [caesura, "run", script.file, "--checkpoint", script.checkpoint]
    command += ["--jars", DRIVER, "--until-end"]
    for point, times in PLACES:
        expected.add(script, random)
        ended = subprocess.run(command, env={**os.environ, VARIABLE: f"{point}:{times}"}, check=False)
        assert ended.returncode == -9
    subprocess.run(command, check=True)
    require_exactly(database, expected)
