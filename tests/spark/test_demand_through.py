"""Demand through groups and DISTINCT: DuckDB's rows, each in the slice in which it comes without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

import duckdb
import pytest
from pyspark.sql import SparkSession

from caesura.testing.script import Item, Script

Row: TypeAlias = dict[str, int]

STREAMS = ("x", "z", "y")
DECLARED = "".join(
    f"CREATE STREAM {name} (k BIGINT, v BIGINT, PUNCTUATED BY (k)) FROM FILES {name};" for name in STREAMS
)
QUERIES = {
    "counts": "SELECT {} g.k, g.n, y.v FROM (SELECT x.k, COUNT(*) AS n, SUM(z.v) AS s FROM x JOIN z ON x.k = z.k"
    " GROUP BY x.k) AS g JOIN y ON g.k = y.k",
    "firsts": "SELECT {} g.k, g.v, y.v AS w FROM (SELECT DISTINCT p.k, p.v FROM x AS p JOIN z AS q ON p.k = q.k)"
    " AS g JOIN y ON g.k = y.k",
}
KEYS = 80
SLICES = 4


def arrivals() -> Iterator[dict[str, list[Row | str]]]:
    """Every stream closes each key some day, x and z before the last slice. Half of the keys have rows of y."""
    chance, keys = Random(12), range(KEYS)
    until = {"x": (0, SLICES - 2), "z": (0, SLICES - 2), "y": (1, SLICES - 1)}
    last = {name: [chance.randint(*until[name]) for _ in keys] for name in STREAMS}
    for number in range(SLICES):
        slice: dict[str, list[Row | str]] = {}
        for name in STREAMS:
            having = [key for key in keys if last[name][key] >= number and (name != "y" or key % 2)]
            rows: list[Row | str] = [
                {"k": k, "v": chance.randrange(3)}
                for k in having
                if chance.random() < (0.6 if name != "y" else 0.3)
            ]
            slice[name] = rows + [f'{{"k": {key}}}' for key in keys if last[name][key] == number]
        yield slice


def script(spark: SparkSession, folder: Path, hint: str) -> Script:
    sinks = "".join(f"CREATE SINK {name} USING parquet LOCATION '{name}';" for name in QUERIES)
    inserts = "".join(f"INSERT INTO {name} {query.format(hint)};" for name, query in QUERIES.items())
    return Script(spark, folder, f"{DECLARED} {sinks} {inserts}")


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Script, Script]:
    """With demand, stopped in the middle, and without."""
    folder = tmp_path_factory.mktemp("demand")
    gated, plain = (
        script(spark, folder / "with", "/*+ DEMAND */"),
        script(spark, folder / "without", "/*+ NO_DEMAND */"),
    )
    for number, slice in enumerate(arrivals()):
        items: dict[str, list[Item]] = {name: [*several] for name, several in slice.items()}
        gated.slice(**items)
        plain.slice(**items)
        if number == SLICES // 2:
            gated.run()
    gated.run()
    plain.run()
    return gated, plain


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_those_of_duckdb(runs: tuple[Script, Script], name: str) -> None:
    database = duckdb.connect()
    for stream in STREAMS:
        database.execute(f"CREATE TABLE {stream} (k BIGINT, v BIGINT)")
    for slice in arrivals():
        for stream, items in slice.items():
            rows = [[row["k"], row["v"]] for row in items if not isinstance(row, str)]
            if rows:
                database.executemany(f"INSERT INTO {stream} VALUES (?, ?)", rows)
    wanted = Counter(database.execute(QUERIES[name].format("")).fetchall())
    assert wanted
    assert Counter(tuple(row.values()) for row in runs[0].rows(name)) == wanted


@pytest.mark.parametrize("name", QUERIES)
def test_each_row_comes_in_the_slice_in_which_it_comes_without(runs: tuple[Script, Script], name: str) -> None:
    gated, plain = ([run.rows(name, slice) for slice in range(SLICES)] for run in runs)
    assert gated == plain
    assert sum(map(bool, plain)) > 2


def test_the_checkpoint_keeps_where_demand_goes_through_and_all_rows_leave(runs: tuple[Script, Script]) -> None:
    gated, plain = runs
    assert (gated.checkpoint / "pipeline.json").read_text(encoding="utf-8").count('"consumer"') == len(QUERIES)
    assert (plain.checkpoint / "pipeline.json").read_text(encoding="utf-8").count('"consumer"') == 0
    assert gated.progress[-1].state_rows == plain.progress[-1].state_rows == 0
