"""Intervals of whole numbers are joined up by blocks of 64: as one by one, wherever their ends lie in a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

from caesura.operators.islands import islands
from caesura.operators.rows import leaf
from caesura.types import Type

LEAST, GREATEST = -(2**63), 2**63 - 1
APART = 1_000
"""The numbers between the beginnings of two clusters of intervals, which lie within 450 of each."""
ENDS = "STRUCT<low: BIGINT, high: BIGINT, low_open: BOOLEAN, high_open: BOOLEAN>"


def cluster(random: Random, start: int) -> Iterator[tuple[int, int]]:
    """Points next to one another, and intervals up to and over the ends of blocks."""
    for _ in range(random.randrange(1, 12)):
        low = start + random.choice((random.randrange(300), 64 * random.randrange(5) + random.randrange(-1, 2)))
        yield low, low + random.choice((0, 0, 0, 1, random.randrange(64), 63, 64, 127, random.randrange(150)))


def one_by_one(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return joined


def test_blocks_of_64_are_joined_up_as_single_numbers_are(spark: SparkSession) -> None:
    random = Random(64)
    intervals = [each for start in range(-500, 500) for each in cluster(random, start * APART)]
    intervals += [
        (LEAST, LEAST + 5),
        (LEAST + 6, LEAST + 200),
        (GREATEST - 200, GREATEST - 3),
        (GREATEST - 2, GREATEST),
    ]
    intervals += [(2**40, 2**50), (2**40 + 64, 2**40 + 127), (2**50 + 1, 2**50 + 1), (2**50 + 65, 2**50 + 65)]
    struct = "struct(low, high, false AS low_open, false AS high_open)"
    shuffled = random.sample(intervals, len(intervals))
    frame = spark.createDataFrame(shuffled, "low BIGINT, high BIGINT").selectExpr(f"{struct} AS id")
    found = islands(leaf(frame), "id", Type("BIGINT")).frame(spark).selectExpr("id.*").collect()
    ends = ((LEAST if row.low is None else row.low, GREATEST if row.high is None else row.high) for row in found)
    assert sorted(ends) == one_by_one(intervals)
    assert not any(row.low_open or row.high_open for row in found)


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        (["NULL, 5, false, false", "6, 6, false, false", "8, NULL, false, false"], [(None, 6), (8, None)]),
        (["NULL, 5, false, true", "4, NULL, true, false"], [(None, None)]),
        (["NULL, 5, false, true", "5, NULL, true, false"], [(None, 4), (6, None)]),
        (["NULL, NULL, false, false", "7, 7, false, false"], [(None, None)]),
        (["0, 640, false, false", "0, 6400, false, false", "128, 191, false, false"], [(0, 6400)]),
        (["1, 2, true, true", "3, 4, true, false"], [(4, 4)]),
    ],
)
def test_ends_that_are_open(spark: SparkSession, given: list[str], joined: list[tuple[int | None, ...]]) -> None:
    """An interval with nothing in it is none, and one without an end goes on."""
    typed = "CAST(low AS INT) AS low, CAST(high AS INT) AS high, low_open, high_open"
    rows = ", ".join(f"({each})" for each in given)
    frame = spark.sql(f"SELECT struct({typed}) AS id FROM VALUES {rows} AS t(low, high, low_open, high_open)")
    found = islands(leaf(frame), "id", Type("INT")).frame(spark).selectExpr("id.low", "id.high").collect()
    assert sorted(map(tuple, found), key=str) == sorted(joined, key=str)
