"""Which columns and expressions are never NULL, by what conditions and declarations say."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.safety.presence import present
from caesura.sql.bind import bind

DECLARED = """
CREATE STREAM s (n BIGINT, m BIGINT NOT NULL, t TIMESTAMP, d DATE, x DOUBLE, text STRING, b BOOLEAN)
USING json LOCATION 's';
"""


def is_present(expression: str, where: str = "true") -> bool:
    (query,) = bind(Source("test", f"{DECLARED} SELECT {expression} AS e FROM s WHERE {where}")).queries
    return present(query.plan, "e")


@pytest.mark.parametrize(
    ("expression", "where"),
    [
        ("n", "n IS NOT NULL"),
        ("n + 1", "n IS NOT NULL"),
        ("n", "n + 1 IS NOT NULL"),
        ("n DIV 10", "n DIV 7 > 3"),
        ("m DIV 10", "true"),
        ("m + n", "n = 3"),
        ("-(m - 1) % 10L", "true"),
        ("to_date(t)", "t IS NOT NULL"),
        ("date_trunc('HOUR', t)", "to_date(t) IS NOT NULL"),
        ("t + INTERVAL 1 HOUR", "t IS NOT NULL"),
        ("year(d)", "d IS NOT NULL"),
        ("unix_seconds(t)", "t IS NOT NULL"),
        ("CAST(floor(x / 0.5) AS INT)", "x BETWEEN 0 AND 1"),
        ("TRY_CAST(text AS INT)", "(TRY_CAST(text AS INT)) IS NOT NULL AND n > 1"),
    ],
)
def test_an_expression_is_null_only_where_its_columns_are(expression: str, where: str) -> None:
    assert is_present(expression, where)


@pytest.mark.parametrize(
    ("expression", "where"),
    [
        ("n + 1", "true"),
        ("m + n", "true"),
        ("n", "m + 1 IS NOT NULL"),
        ("n", "coalesce(n, 1) > 0"),
        ("n", "n IS NOT NULL OR b"),
        ("m + CAST(NULL AS INT)", "true"),
        ("m + nullif(1, 1)", "true"),
        ("TRY_CAST(m AS INT)", "true"),
        ("TRY_CAST(text AS INT)", "text IS NOT NULL"),
        ("try_divide(m, m)", "true"),
        ("trunc(d, 'DAY')", "d IS NOT NULL"),
        ("CASE WHEN m > 3 THEN m END", "true"),
        ("1", "false"),
    ],
)
def test_an_expression_that_gives_null_by_itself_may_be_null(expression: str, where: str) -> None:
    assert not is_present(expression, where)
