"""Which groupings take single rows, and are left out when a pipeline runs."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Distinct, Group, Plan, walk
from caesura.planning.single import ungrouped
from caesura.sql.bind import bind

STREAMS = """
CREATE STREAM s (
  k BIGINT NOT NULL, n BIGINT, x BIGINT, at TIMESTAMP, UNIQUE (k), UNIQUE (n), ORDERED BY (at)
) USING json LOCATION 's';
CREATE STREAM pairs (k BIGINT NOT NULL, l BIGINT NOT NULL, UNIQUE (k, l)) USING json LOCATION 'pairs';
CREATE STREAM often (k BIGINT NOT NULL, x BIGINT, UNIQUE (k) LIFESPAN INTERVAL 1 HOUR) USING json LOCATION 'often';
"""


def grouping(query: str) -> list[type[Plan]]:
    """What is left of groupings."""
    (found,) = ungrouped(bind(Source("test.sql", STREAMS + query))).queries
    return [type(node) for node in walk(found.plan) if isinstance(node, Group | Distinct)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, x FROM s GROUP BY k, x",
        "SELECT DISTINCT x, k FROM s WHERE x > 3",
        "SELECT j, b FROM (SELECT k AS j, window(at, '1 minute').start AS b FROM s GROUP BY 1, 2)",
        "SELECT DISTINCT l, k FROM pairs",
        "SELECT DISTINCT n FROM s WHERE n IS NOT NULL",
    ],
)
def test_rows_with_a_key_that_comes_once_are_not_grouped(query: str) -> None:
    assert grouping(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x, at FROM s GROUP BY x, at",
        "SELECT k + 1 AS j FROM s GROUP BY k + 1",
        "SELECT k, COUNT(*) AS n FROM s GROUP BY k",
        "SELECT DISTINCT k FROM pairs",
        "SELECT DISTINCT k FROM often",
    ],
)
def test_rows_that_may_agree_are(query: str) -> None:
    assert len(grouping(query)) == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT k FROM (SELECT k, {} AS b FROM s)",
        "SELECT k FROM (SELECT k, {} AS b FROM s) GROUP BY k",
        "SELECT k, date_trunc('hour', {}) AS h FROM s GROUP BY 1, 2",
    ],
)
def test_a_row_that_is_in_several_buckets_repeats_its_key(query: str) -> None:
    overlapping = "window(at, '10 minutes', '5 minutes').start"
    assert len(grouping(query.format(overlapping))) == 1
    assert grouping(query.format("window(at, '5 minutes', '5 minutes').start")) == []


def test_a_key_that_may_be_null_may_repeat() -> None:
    assert grouping("SELECT DISTINCT n FROM s") == [Distinct]


def test_a_key_of_one_input_is_none_of_their_join() -> None:
    assert grouping("SELECT DISTINCT s.k FROM s JOIN pairs ON s.k = pairs.k") == [Distinct]
