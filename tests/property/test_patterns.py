"""Patterns of `date_format` against texts written in plain Python: if none is refused, they sort as times do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from caesura.safety.patterns import disorder

FIELDS: dict[str, Callable[[datetime], str]] = {
    "yyyy": lambda t: f"{t.year:04}",
    "y": lambda t: f"{t.year}",
    "yy": lambda t: f"{t.year % 100:02}",
    "MM": lambda t: f"{t.month:02}",
    "M": lambda t: f"{t.month}",
    "MMM": lambda t: t.strftime("%b"),
    "dd": lambda t: f"{t.day:02}",
    "d": lambda t: f"{t.day}",
    "E": lambda t: t.strftime("%a"),
    "HH": lambda t: f"{t.hour:02}",
    "H": lambda t: f"{t.hour}",
    "hh": lambda t: f"{(t.hour - 1) % 12 + 1:02}",
    "mm": lambda t: f"{t.minute:02}",
    "m": lambda t: f"{t.minute}",
    "ss": lambda t: f"{t.second:02}",
    "s": lambda t: f"{t.second}",
    "SSS": lambda t: f"{t.microsecond // 1000:03}",
    "SSSSSS": lambda t: f"{t.microsecond:06}",
}
SEPARATORS = {"-": "-", "/": "/", " ": " ", ":": ":", ".": ".", "'T'": "T", "' of '": " of ", "''": "'"}
ORDERED = ("yyyy", "MM", "dd", "HH", "mm", "ss", "SSS")

Pattern = list[tuple[str, str]]
"""Fields, each with a separator behind it."""


def written(pattern: Pattern, time: datetime) -> str:
    return "".join(FIELDS[field](time) + SEPARATORS[separator] for field, separator in pattern)


def text(pattern: Pattern) -> str:
    return "".join(field + separator for field, separator in pattern)


def times() -> list[datetime]:
    """Of all years, and of one year, day, minute and second, in order."""
    rng, found = Random(1), [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)]
    for start, length in (
        (datetime(1, 1, 1), 9_998 * 365 * 86_400),
        (datetime(2026, 1, 1), 365 * 86_400),
        (datetime(2026, 3, 9), 2 * 86_400),
        (datetime(2026, 3, 9, 9), 7_200),
        (datetime(2026, 3, 9, 9, 9), 120),
        (datetime(2026, 3, 9, 9, 9, 9), 2),
    ):
        found += [start + timedelta(microseconds=rng.randrange(length * 1_000_000)) for _ in range(300)]
    return sorted(found)


TIMES = times()
patterns = st.lists(
    st.tuples(st.sampled_from(sorted(FIELDS)), st.sampled_from(sorted(SEPARATORS))), min_size=1, max_size=7
)


@given(patterns)
def test_texts_of_a_pattern_are_in_order_exactly_if_nothing_speaks_against_it(pattern: Pattern) -> None:
    letters = [field[0] for field, _ in pattern]
    assume(len(letters) == len(set(letters)))  # what is written twice may be in order all the same
    texts = [written(pattern, time) for time in TIMES]
    assert (disorder(text(pattern)) is None) == all(one <= other for one, other in pairwise(texts))


@given(st.integers(1, 7), st.lists(st.sampled_from(sorted(SEPARATORS)), min_size=7, max_size=7))
def test_from_the_year_down_a_pattern_may_end_anywhere(many: int, separators: list[str]) -> None:
    pattern = list(zip(ORDERED[:many], separators, strict=False))
    assert disorder(text(pattern)) is None
    texts = [written(pattern, time) for time in TIMES]
    assert texts == sorted(texts)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("dd-MM-yyyy", "`dd` comes before the year"),
        ("yyyy-M", "`M` does not write every month with 2 digits; `MM` does"),
        ("yy-MM", "`yy` does not write every year with 4 digits; `yyyy` does"),
        ("HH:mm", "`HH` comes before the year"),
        ("yyyy-dd", "`dd` comes before the month"),
        ("yyyy-MM-dd hh", "`hh` does not follow the order of time"),
        ("yyyy-MM-dd HH:mm:ss.SSSz", "`z` does not follow the order of time"),
        ("yyyy-MM-dd SSS", "`SSS` does not follow the order of time"),
        ("yyyy[-MM]", "`[` is no separator"),
        ("'yyyy'", "it does not write the year"),
        ("y", "`y` does not write every year with 4 digits; `yyyy` does"),
        ("yyyyy", "`yyyyy` does not write every year with 4 digits; `yyyy` does"),
        ("YYYY-MM", "`YYYY` comes before the year"),
        ("yyyy'", "a quote in it is not closed"),
        ("yyyy-MM-dd'T", "a quote in it is not closed"),
        ("yyyy'''", "a quote in it is not closed"),
        ("yyyyMMddHHmmssSSSSSSSSSS", "`SSSSSSSSSS` has more than 9 digits, and Spark writes no more"),
        ("", "it does not write the year"),
    ],
)
def test_a_pattern_that_keeps_no_order_has_a_reason(pattern: str, why: str) -> None:
    assert disorder(pattern) == why


@pytest.mark.parametrize("pattern", ["yyyy''", "yyyy'it''s'MM", "yyyyMMddHHmmssSSSSSSSSS"])
def test_quotes_in_pairs_and_nine_digits_are_in_order(pattern: str) -> None:
    assert disorder(pattern) is None
