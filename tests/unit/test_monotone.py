"""Which expressions keep the order of a column. What they give on Spark is held by tests/spark/test_rising.py."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.safety.schemes import derive
from caesura.sql.bind import bind

DECLARED = """
CREATE STREAM s (t TIMESTAMP, ntz TIMESTAMP_NTZ, d DATE, n BIGINT, x DOUBLE, text STRING, ORDERED BY (t),
ORDERED BY (ntz), ORDERED BY (d), ORDERED BY (n), ORDERED BY (x), ORDERED BY (text)) USING json LOCATION 's';
"""


def scheme(expression: str) -> str | None:
    """Of the expression alone, as the column `e`."""
    (query,) = bind(Source("test", f"{DECLARED} SELECT {expression} AS e FROM s")).queries
    found = [str(each.scheme) for each in derive(query.plan).schemes[query.plan]]
    return found[0] if found else None


@pytest.mark.parametrize(
    "expression",
    [
        *("date_trunc('HOUR', t)", "date_trunc('MONTH', t)", "date_trunc('DAY', d)", "date_trunc('HOUR', ntz)"),
        *("to_date(t)", "to_date(ntz)", "CAST(t AS DATE)", "trunc(d, 'MM')", "trunc(t, 'YEAR')"),
        *(
            "unix_timestamp(t)",
            "unix_timestamp(d)",
            "to_unix_timestamp(t, 'y')",
            "unix_seconds(t)",
            "unix_millis(t)",
            "unix_micros(t)",
        ),
        *("year(t)", "year(d)", "EXTRACT(YEAR FROM t)", "CAST(t AS TIMESTAMP_NTZ)", "CAST(ntz AS TIMESTAMP)"),
        *(
            "n DIV 10",
            "n DIV 10L",
            "n DIV CAST(10 AS INT)",
            "n / 10L",
            "floor(n / 10)",
            "floor(x / 0.5)",
            "n / 3",
            "(n + 1) DIV (60)",
            "CAST(n / 10 AS BIGINT)",
        ),
        *("to_date(t + INTERVAL 1 HOUR)", "year(date_trunc('DAY', t))", "unix_timestamp(t) DIV 3600"),
    ],
)
def test_an_expression_that_keeps_order_has_a_bound(expression: str) -> None:
    assert scheme(expression) == "(e, ordered)"


@pytest.mark.parametrize(
    "expression",
    [
        *("date_format(t, 'yyyy')", "date_format(t, 'yyyy-MM-dd')", "date_format(t, 'yyyyMMddHHmmss')"),
        *("date_format(d, 'yyyy/MM')", "date_format(ntz, 'yyyy-MM-dd HH:mm:ss.SSS')"),
        *("date_format(t, \"yyyy-MM-dd'T'HH:mm\")", "date_format(date_trunc('HOUR', t), 'yyyy-MM-dd HH')"),
        *("date_format(t, \"yyyy'Y'\")", "date_format(t, \"yyyy'it''s'\")"),
    ],
)
def test_of_a_text_in_the_order_of_time_each_value_is_closed(expression: str) -> None:
    """There is no bound: years after 9999 are written with a sign, before all others."""
    assert scheme(expression) == "(e)"


@pytest.mark.parametrize(
    "expression",
    [
        *("date_format(t, 'y')", "date_format(t, 'YYYY-MM')", "date_format(t, 'yyyyy')", "date_format(t, '')"),
        *('date_format(t, "yyyy\'")', "date_format(t, 'yyyyMMddHHmmssSSSSSSSSSS')"),
        *("date_format(t, 'dd-MM-yyyy')", "date_format(t, 'yyyy-M')", "date_format(t, 'HH:mm')"),
        *("date_format(t, text)", "date_format(text, 'yyyy')", "to_date(text)", "to_date(text, 'yyyy')"),
        *(
            "month(t)",
            "hour(t)",
            "EXTRACT(MONTH FROM t)",
            "unix_timestamp(text)",
            "year(text)",
            "unix_timestamp(ntz)",
        ),
        *(
            "n DIV -10",
            "n DIV -10L",
            "n DIV 0",
            "n DIV 0L",
            "n DIV CAST(0.5 AS INT)",
            "n DIV CAST('10' AS INT)",
            "10 DIV n",
            "n / -2",
            "floor(-n / 10)",
            "n DIV n",
            "x DIV 2",
            "n % 10",
        ),
        *("CAST(t AS STRING)", "CAST(text AS TIMESTAMP)", "upper(date_format(t, 'yyyy'))", "t + INTERVAL 1 MONTH"),
    ],
)
def test_an_expression_that_does_not_keep_order_has_none(expression: str) -> None:
    assert scheme(expression) is None
