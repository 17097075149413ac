"""When a table is written anew."""

from __future__ import annotations

import pytest

from caesura.checkpoint.manifest import Part, TableVersion
from caesura.operators.operator import StateTable
from caesura.spark.purge import PurgePolicy
from caesura.types import BIGINT, Type

ROWS, POINTS = StateTable("rows", ()), StateTable("points", (), "punctuations")
NUMBERS = StateTable("numbers", (), "punctuations", intervals_of=("id", BIGINT))
TEXTS = StateTable("texts", (), "punctuations", intervals_of=("name", Type("STRING")))


@pytest.mark.parametrize(
    ("table", "rows", "arrived", "anew"),
    [
        (ROWS, 100_000, 0, True),
        (ROWS, 100_001, 4_000_000, False),
        (NUMBERS, 1_000, 0, True),
        (NUMBERS, 50_000, 0, False),
        (NUMBERS, 50_000, 500_000, True),
        (NUMBERS, 50_001, 500_000, False),
        (NUMBERS, 100_001, 4_000_000, False),
        (POINTS, 50_000, 500_000, False),
        (TEXTS, 50_000, 500_000, False),
    ],
)
def test_a_table_that_is_small_or_small_beside_a_slice(
    table: StateTable, rows: int, arrived: int, anew: bool
) -> None:
    """Of punctuations only those that are joined up in one pass are measured by a slice."""
    assert PurgePolicy().rewrite(TableVersion(Part(0, rows)), table, arrived) is anew


@pytest.mark.parametrize("table", [ROWS, NUMBERS, POINTS, TEXTS])
def test_a_table_to_which_as_much_was_appended_as_it_held(table: StateTable) -> None:
    base = Part(0, 200_000)
    assert not PurgePolicy().rewrite(TableVersion(base, (Part(1, 199_999),)), table)
    assert PurgePolicy().rewrite(TableVersion(base, (Part(1, 200_000),)), table)
