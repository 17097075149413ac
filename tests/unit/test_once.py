"""Which functions a WHERE and the SELECT above it call once."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.operators.project import Project
from caesura.operators.select import Select
from caesura.spark.compile import compile_plans
from caesura.sql.bind import bind

STREAM = """CREATE STREAM s (
  k BIGINT, a STRING, b STRING, at TIMESTAMP, PUNCTUATED BY (a), ORDERED BY (at)
) USING json LOCATION 's';"""
VALUE = "`caesura: value`"


def computed(query: str) -> list[str | None]:
    """What every WHERE computes for whoever reads it: both then read that, and nobody computes it again."""
    plans = tuple(each.plan for each in bind(Source("test.sql", STREAM + query)).queries)
    operators = compile_plans(plans).operators.values()
    selections = [each for each in operators if isinstance(each, Select)]
    outputs = [sql for each in operators if isinstance(each, Project) for sql in each.outputs.values()]
    for each in selections:
        assert (VALUE in each.predicate) == (each.value is not None)
        assert each.value is None or not any(each.value in sql for sql in (each.predicate, *outputs))
    assert any(VALUE in sql for sql in outputs) == any(each.value for each in selections)
    return [each.value for each in selections]


HOST = "REGEXP_EXTRACT(`s.a`, 'x(.*)', 0)"
host = "regexp_extract(a, 'x(.*)', 0)"


@pytest.mark.parametrize(
    ("query", "value"),
    [
        (f"SELECT {host} AS h FROM s WHERE {host} LIKE 'x%'", HOST),
        (f"SELECT concat({host}, b) AS h FROM s WHERE {host} = 'x' AND k > 3", HOST),
        (f"SELECT nullif({host}, '') AS h FROM s WHERE nullif({host}, '') IS NOT NULL OR k > 3", HOST),
        (f"SELECT CASE WHEN k > 3 THEN {host} END AS h FROM s WHERE {host} IN ('X', 'Y')", HOST),
        (f"SELECT lower({host}) AS h FROM s WHERE NOT {host} = b", HOST),
        ("SELECT split(a, '/') AS p FROM s WHERE split(a, '/')[1] = 'x'", "SPLIT(`s.a`, '/')"),
    ],
)
def test_a_function_that_is_called_for_every_row(query: str, value: str) -> None:
    assert computed(query) == [value]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a FROM s WHERE {host} = 'x'",
        f"SELECT regexp_extract(b, 'x(.*)', 0) AS h FROM s WHERE {host} = 'x'",
        f"SELECT regexp_extract(a, 'X(.*)', 0) AS h FROM s WHERE {host} = 'x'",
        "SELECT lower(a) AS l FROM s WHERE lower(a) = 'x'",  # as fast as to hand on a column
        "SELECT md5('x') AS h FROM s WHERE md5('x') = b",  # of no row
    ],
)
def test_nothing_is_called_twice_that_takes_a_while(query: str) -> None:
    assert computed(query) == [None]


@pytest.mark.parametrize(
    "condition",
    [
        f"b = 'x' AND {host} = 'y'",
        f"b = {host}",
        f"CASE WHEN k > 3 THEN {host} = 'x' END",
        f"length({host}) = 3",
        f"CAST({host} AS BIGINT) DIV k > 3",  # Spark looks at k first, and where it is NULL at nothing else
    ],
)
def test_what_may_not_be_called_for_every_row_stays_where_it_is(condition: str) -> None:
    assert computed(f"SELECT {host} AS h FROM s WHERE {condition}") == [None]


def test_a_where_that_others_read_computes_nothing_for_one_of_them() -> None:
    assert computed(f"SELECT {host} AS h FROM s WHERE {host} = 'x'; SELECT k FROM s WHERE {host} = 'x'") == [None]


def test_a_where_that_may_go_below_a_join_or_a_group_stays_one() -> None:
    assert computed(
        f"SELECT {host} AS h, n FROM (SELECT a, COUNT(*) AS n FROM s GROUP BY a) WHERE {host} = 'x'"
    ) == [None]
