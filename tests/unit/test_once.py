"""Which values a WHERE and the SELECT above it compute once."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.operators.project import Project
from caesura.operators.select import Select
from caesura.spark.compile import compile_plans
from caesura.sql.bind import bind

STREAM = (
    """CREATE STREAM s (k BIGINT, a STRING, b STRING, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 's';"""
)


def computed(query: str) -> list[str | None]:
    """By each WHERE, for whoever reads it too."""
    plans = tuple(each.plan for each in bind(Source("test.sql", STREAM + query)).queries)
    operators = compile_plans(plans).operators.values()
    values = [each.value for each in operators if isinstance(each, Select)]
    reading = sum(
        "caesura: value" in sql for each in operators if isinstance(each, Project) for sql in each.outputs.values()
    )
    assert reading >= sum(value is not None for value in values)
    return values


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT lower(a) AS l FROM s WHERE lower(a) LIKE 'x%'", "LOWER(`s.a`)"),
        ("SELECT concat(lower(a), b) AS l FROM s WHERE lower(a) = 'x' AND k > 3", "LOWER(`s.a`)"),
        ("SELECT nullif(trim(a), '') AS l FROM s WHERE nullif(trim(a), '') IS NOT NULL OR k > 3", "TRIM(`s.a`)"),
        ("SELECT CASE WHEN k > 3 THEN upper(b) END AS l FROM s WHERE upper(b) IN ('X', 'Y')", "UPPER(`s.b`)"),
    ],
)
def test_a_function_that_where_calls_for_every_row(query: str, value: str) -> None:
    assert computed(query) == [value]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT upper(a) AS l FROM s WHERE lower(a) = 'x'",
        "SELECT lower(b) AS l FROM s WHERE lower(a) = 'x'",
        "SELECT a FROM s WHERE lower(a) = 'x'",
        "SELECT k + 1 AS l FROM s WHERE k + 1 > 3",
        "SELECT CAST(a AS INT) AS l FROM s WHERE CAST(a AS INT) > 3",
        # Behind what may decide alone it is not called for every row.
        "SELECT to_date(a) AS l FROM s WHERE b = 'a date' AND to_date(a) > DATE '2020-01-01'",
        "SELECT lower(a) AS l FROM s WHERE CASE WHEN k > 3 THEN lower(a) = 'x' END",
        "SELECT lower(a) AS l FROM s WHERE b = lower(a)",
        "SELECT lower(a) AS l FROM s WHERE length(lower(a)) = 3",
    ],
)
def test_what_is_computed_where_it_stands(query: str) -> None:
    assert computed(query) == [None]


def test_a_where_that_others_read_computes_nothing_for_one_of_them() -> None:
    assert computed("SELECT lower(a) AS l FROM s WHERE lower(a) = 'x'; SELECT k FROM s WHERE lower(a) = 'x'") == [
        None
    ]
