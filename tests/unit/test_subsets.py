"""Which sets of a grouping are kept as what others leave of them."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Group, walk
from caesura.spark.subsets import beyond
from caesura.sql.bind import bind

STREAM = "CREATE STREAM s (k BIGINT, x BIGINT, y BIGINT, PUNCTUATED BY (k)) USING json LOCATION 's';"


def parts(*aggregates: str) -> dict[str, int]:
    """The results whose sets are kept as the rest, and beyond how many others."""
    listed = ", ".join(f"{sql} AS r{i}" for i, sql in enumerate(aggregates))
    (query,) = bind(Source("test.sql", f"{STREAM} SELECT k, {listed} FROM s GROUP BY k")).queries
    (group,) = (node for node in walk(query.plan) if isinstance(node, Group))
    return {each.result.name: len(columns) for each, columns in beyond(group).items()}


def test_a_set_of_all_rows_has_what_filters_leave() -> None:
    found = parts(
        "COUNT(DISTINCT x)",
        "COUNT(DISTINCT x) FILTER (WHERE y < 1)",
        "SUM(DISTINCT x) FILTER (WHERE y >= 1)",
        "COUNT(DISTINCT y)",
    )
    assert [*found.values()] == [2]


def test_case_is_a_filter_too() -> None:
    assert [*parts("COUNT(DISTINCT x)", "COUNT(DISTINCT CASE WHEN y < 1 THEN x END)").values()] == [1]


def test_a_part_of_a_part_is_none_of_the_whole() -> None:
    part = "COUNT(DISTINCT CASE WHEN y < 1 THEN x END)"
    assert [*parts("COUNT(DISTINCT x)", part, f"{part} FILTER (WHERE y < 0)").values()] == [1]


@pytest.mark.parametrize(
    "other",
    [
        "COUNT(DISTINCT y) FILTER (WHERE y < 1)",
        "COUNT(DISTINCT CASE WHEN y < 1 THEN x ELSE 7 END)",
        "COUNT(DISTINCT CASE WHEN y < 1 THEN x WHEN y > 3 THEN y END)",
        "COUNT(DISTINCT CASE y WHEN 1 THEN x END)",
        "COUNT(x) FILTER (WHERE y < 1)",
        "COUNT(DISTINCT x, y) FILTER (WHERE y < 1)",
    ],
)
def test_what_has_other_values_is_no_part(other: str) -> None:
    assert parts("COUNT(DISTINCT x)", other) == {}
