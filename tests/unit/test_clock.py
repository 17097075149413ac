"""Lengths of time that are added as numbers, and those that are not."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from caesura.spark.clock import microseconds, residual
from caesura.types import Type
from tests.plans import join, scan, stream


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("INTERVAL 5 SECONDS", 5_000_000),
        ("INTERVAL '5' second", 5_000_000),
        ("INTERVAL -5 MINUTES", -300_000_000),
        ("INTERVAL '1.5' SECONDS", None),
        ("INTERVAL 23 HOURS", 82_800_000_000),
        ("INTERVAL 24 HOURS", None),  # a day, which has 23 hours when clocks change
        ("INTERVAL 1 DAY", None),
        ("INTERVAL 1 MONTH", None),
        ("INTERVAL '1_0' SECONDS", None),
        ("INTERVAL '1 hour 2 minutes'", None),
        ("INTERVAL '1:02' MINUTE TO SECOND", None),
        ("5", None),
    ],
)
def test_microseconds(interval: str, expected: int | None) -> None:
    assert microseconds(parse_one(interval, dialect="spark")) == expected


@pytest.mark.parametrize(
    ("condition", "executed"),
    [
        ("b.at <= a.at + INTERVAL 5 SECONDS", "`b.at` <= TIMESTAMP_MICROS(UNIX_MICROS(`a.at`) + 5000000L)"),
        ("b.at <= INTERVAL 5 SECONDS + a.at", "`b.at` <= TIMESTAMP_MICROS(UNIX_MICROS(`a.at`) + 5000000L)"),
        ("b.at - INTERVAL 1 HOUR <= a.at", "TIMESTAMP_MICROS(UNIX_MICROS(`b.at`) - 3600000000L) <= `a.at`"),
        ("b.at <= a.at + INTERVAL '2' DAYS", "`b.at` <= `a.at` + INTERVAL '2' DAYS"),
    ],
)
def test_times_are_compared_as_numbers(condition: str, executed: str) -> None:
    times = (scan(stream(name, "at", type=Type("TIMESTAMP"))) for name in "ab")
    assert [each.sql for each in residual(join(*times, residual=condition))] == [executed]


@pytest.mark.parametrize("type", ["TIMESTAMP_NTZ", "DATE"])
def test_other_times_are_left_alone(type: str) -> None:
    dates = (scan(stream(name, "at", type=Type(type))) for name in "ab")
    (part,) = residual(join(*dates, residual="b.at <= a.at + INTERVAL 5 SECONDS"))
    assert "MICROS" not in part.sql
