"""Joins of three to six streams, by the shape of what connects them: DuckDB's rows, no state when all is closed.

These take minutes: `make test-long`. What is in every run of the tests is in `test_many_inputs.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TypeAlias

import duckdb
import pytest
from pyspark.sql import SparkSession

from caesura.testing.script import Item, Script

Pair: TypeAlias = tuple[int, int]

pytestmark = pytest.mark.long

ROWS = 8  # of each stream in a slice
SHAPES = ("chain", "star", "cycle", "clique")


def pairs(shape: str, inputs: int) -> list[Pair]:
    """The inputs that are compared, each pair on columns of its own."""
    match shape:
        case "chain":
            return [(i, i + 1) for i in range(inputs - 1)]
        case "star":
            return [(0, i) for i in range(1, inputs)]
        case "cycle":
            return [*pairs("chain", inputs), (0, inputs - 1)]
        case _:
            return [*combinations(range(inputs), 2)]


def columns(i: int, compared: list[Pair]) -> Iterator[str]:
    """Of an input: one for each partner."""
    return (f"k{a}{b}" for a, b in compared if i in (a, b))


@pytest.mark.parametrize("inputs", [3, 4, 5, 6])
@pytest.mark.parametrize("shape", SHAPES)
def test_joins_of_many_streams(spark: SparkSession, tmp_path: Path, shape: str, inputs: int) -> None:
    compared = pairs(shape, inputs)
    values = range(2 if shape == "clique" and inputs > 3 else 4)  # few enough that some rows meet
    streams = {f"s{i}": [*columns(i, compared)] for i in range(inputs)}
    selected = ", ".join(f"s{i}.id AS id{i}" for i in range(inputs))
    where = " AND ".join(f"s{a}.k{a}{b} = s{b}.k{a}{b}" for a, b in compared)
    query = f"SELECT {selected} FROM {', '.join(streams)} WHERE {where}"
    declared = (
        f"CREATE STREAM {name} (id BIGINT, {', '.join(f'{key} BIGINT' for key in keys)}, "
        f"{', '.join(f'PUNCTUATED BY ({key})' for key in keys)}) FROM FILES {name};"
        for name, keys in streams.items()
    )
    into = f"CREATE SINK out USING parquet LOCATION 'out'; INSERT INTO out {query};"
    script = Script(spark, tmp_path, "\n".join((*declared, into)))
    rng, database = Random(inputs), duckdb.connect()
    for name, keys in streams.items():
        database.execute(f"CREATE TABLE {name} (id BIGINT, {', '.join(f'{key} BIGINT' for key in keys)})")
    for number, still in enumerate((values, values[1:])):
        rows: dict[str, list[Item]] = {
            name: [{"id": number * ROWS + i, **{key: rng.choice(still) for key in keys}} for i in range(ROWS)]
            for name, keys in streams.items()
        }
        for name, several in rows.items():
            marks = ", ".join("?" * (1 + len(streams[name])))
            database.executemany(
                f"INSERT INTO {name} VALUES ({marks})",
                [[*row.values()] for row in several if isinstance(row, dict)],
            )
        closed = {name: [f'{{"{key}": 0}}' for key in keys] for name, keys in streams.items()}
        script.slice(**{name: [*several, *closed[name]] for name, several in rows.items()})
    closing = {name: [f'{{"{key}": {{"ge": 1}}}}' for key in keys] for name, keys in streams.items()}
    script.slice(**closing)
    script.run()
    wanted = Counter(database.execute(query).fetchall())
    assert wanted
    assert Counter(tuple(row.values()) for row in script.rows("out")) == wanted
    assert script.progress[0].state_rows > 0
    assert script.progress[-1].state_rows == 0
