"""What is carried through an expression that keeps order is true of what Spark gives, in every time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from sqlglot import parse_one

from caesura.safety.monotone import End, Rising, rising
from caesura.sql.dialect import Caesura
from caesura.types import Type

QUICK = {"UTC", "Europe/Berlin"}
CLOCKS = {
    "UTC": ("2026-01-01 00:00:00",),
    "Europe/Berlin": ("2026-03-29 01:00:00", "2026-10-25 01:00:00"),
    "America/St_Johns": ("2006-10-29 02:31:00",),  # at one minute past midnight back to the day before
    "Australia/Lord_Howe": ("2026-04-04 15:00:00",),  # by half an hour
    "Pacific/Apia": ("2011-12-30 10:00:00",),  # over a whole day
}
"""And moments, in UTC, when they are put forward or back."""
FAR = "-0004-03-01", "0000-06-01", "0001-01-03", "9999-12-30", "+10000-01-02", "+12345-06-07"
OF_TIMES = (
    *(
        "to_date(t)",
        "year(t)",
        "CAST(t AS TIMESTAMP_NTZ)",
        "trunc(t, 'MM')",
        "unix_timestamp(t)",
        "unix_millis(t)",
    ),
    *("date_trunc('HOUR', t)", "date_trunc('DAY', t)", "date_trunc('WEEK', t)", "date_trunc('YEAR', t)"),
    *("date_format(t, 'yyyy')", "date_format(t, 'yyyy-MM-dd')", "date_format(t, 'yyyy-MM-dd HH:mm')"),
    *("date_format(to_date(t), 'yyyy-MM-dd HH')", "date_format(CAST(t AS TIMESTAMP_NTZ), 'yyyy/MM/dd HH:mm')"),
    *("CAST(CAST(t AS TIMESTAMP_NTZ) AS TIMESTAMP)", "date_trunc('HOUR', CAST(t AS TIMESTAMP_NTZ))"),
)
OF_NUMBERS = "n DIV 7", "floor(n / 7)", "floor(n / 0.3)", "CAST(n / 7 AS BIGINT)", "n / 3", "(n - 5) DIV 60"


def carried(expression: str) -> Rising:
    found = rising(parse_one(expression, dialect=Caesura), {"t": Type("TIMESTAMP"), "n": Type("BIGINT")})
    assert found is not None
    return found


def broken(expression: str, column: str) -> Iterator[str]:
    """Conditions on a closed end `x` and a value beyond it: that what is said of the expression is not true."""
    found, value = carried(expression), re.sub(rf"\b{column}\b", "beyond", expression)
    high, low = found.at("x", "high"), found.at("x", "low")
    from_least = f" AND {value} >= {found.least}" if found.least is not None else ""
    yield f"beyond > x AND {value} < {high}{from_least}"
    yield f"beyond < x AND {value} > {low}"


@pytest.fixture(params=[each if each in QUICK else pytest.param(each, marks=pytest.mark.long) for each in CLOCKS])
def zoned(spark: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    """Times about the moments when clocks change, the closer the more, and some far ones."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    minutes = (*range(-3_000, 3_000, 97), *range(-180, 180, 13), -0.5, -0.01, 0, 0.01)
    near = [f"TIMESTAMP'{at}' + INTERVAL '{m * 60}' SECOND" for at in CLOCKS[request.param] for m in minutes]
    far = [f"TIMESTAMP'{each} 11:12:13'" for each in FAR]
    session.sql(f"SELECT explode(array({', '.join((*near, *far))})) AS t").createOrReplaceTempView("times")
    session.sql("CACHE TABLE times")
    session.conf.set("spark.sql.session.timeZone", request.param)
    return session


def test_what_is_carried_through_an_expression_of_a_time_is_true(zoned: SparkSession) -> None:
    pairs = zoned.sql("SELECT /*+ BROADCAST(b) */ a.t AS x, b.t AS beyond FROM times AS a CROSS JOIN times AS b")
    conditions = {(each, i): c for each in OF_TIMES for i, c in enumerate(broken(each, "t"))}
    counted = pairs.select(*(sf.expr(f"count_if({c})").alias(f"{key}") for key, c in conditions.items())).collect()
    assert counted[0].asDict() == {f"{key}": 0 for key in conditions}


def test_a_day_is_closed_when_it_is_over_and_the_clock_is_not_put_back(zoned: SparkSession) -> None:
    """The bound is of use: of what is two days old at least, all is closed."""
    for expression in ("to_date(t)", "date_format(t, 'yyyy-MM-dd')", "date_trunc('DAY', t)"):
        at = carried(expression).at("t + INTERVAL 49 HOURS", "high")
        late = zoned.sql(
            f"SELECT t FROM times WHERE year(t) BETWEEN 2 AND 9998 AND NOT coalesce({expression} < {at}, false)"
        )
        assert late.collect() == []


def test_what_is_carried_through_an_expression_of_a_number_is_true(spark: SparkSession) -> None:
    numbers = spark.sql("SELECT explode(sequence(-400, 400)) AS n UNION ALL VALUES (9223372036854775807L)")
    numbers.createOrReplaceTempView("numbers")
    pairs = spark.sql("SELECT a.n AS x, b.n AS beyond FROM numbers AS a CROSS JOIN numbers AS b")
    conditions = {(each, i): c for each in OF_NUMBERS for i, c in enumerate(broken(each, "n"))}
    counted = pairs.select(*(sf.expr(f"count_if({c})").alias(f"{key}") for key, c in conditions.items())).collect()
    assert counted[0].asDict() == {f"{key}": 0 for key in conditions}


@pytest.mark.parametrize("end", ["low", "high"])
def test_an_end_is_a_constant_to_spark(spark: SparkSession, end: End) -> None:
    """The driver writes it into tables of constants, in which Spark evaluates less than elsewhere."""
    ends = {each: carried(each).at("TIMESTAMP'2026-03-29 01:30:00'", end) for each in OF_TIMES}
    ends |= {each: carried(each).at("CAST(9223372036854775807L AS BIGINT)", end) for each in OF_NUMBERS}
    constants = ", ".join(f"'{i}', {sql}" for i, sql in enumerate(ends.values()))
    (row,) = spark.sql(f"SELECT ends FROM VALUES (named_struct({constants})) AS constants(ends)").collect()
    assert [each for each, value in zip(ends, row.ends, strict=True) if value is None] == []
