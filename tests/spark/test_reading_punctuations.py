"""Spark reads exactly the texts that `caesura.punctuation_json` reads, and takes them to mean the same."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from caesura.operators.rows import leaf
from caesura.punctuation import Constant, Empty, Listed, Pattern, Range, Value, Wildcard, normal
from caesura.punctuation_json import Unreadable, read
from caesura.spark.punctuations import BOX, EVERYTHING, UNREADABLE, Reader, kinds
from caesura.spark.run import work_session
from caesura.types import Type

COLUMNS = {
    "n": Type("BIGINT"),
    "auction": Type("BIGINT"),
    "bidder": Type("INT"),
    "tiny": Type("TINYINT"),
    "price": Type("DECIMAL(10, 2)"),
    "wide": Type("DECIMAL(38, 10)"),
    "weight": Type("DOUBLE"),
    "single": Type("FLOAT"),
    "url": Type("STRING"),
    "code": Type("VARCHAR(5)"),
    "open": Type("BOOLEAN"),
    "day": Type("DATE"),
    "at": Type("TIMESTAMP"),
    "local": Type("TIMESTAMP_NTZ"),
    "tags": Type("ARRAY<INT>"),
}

TEXTS = [
    "",
    " ",
    "{",
    "}",
    "null",
    "17",
    '"auction"',
    "[]",
    "[{}]",
    "{}",
    " { } ",
    "{}\n",
    "{} {}",
    "{},{}",
    "{}]",
    "{}], [{}",
    '{"auction": 1}] junk',
    "{}]]",
    "{} // all",
    "{} junk",
    "{'auction': 1}",
    "{auction: 1}",
    '{"auction": 1,}',
    '{"auction": 01}',
    '{"auction": +1}',
    '{"auction": NaN}',
    '{"weight": Infinity}',
    '{"auction": 1, "auction": 2}',
    '{"auction": 1, "auction": 1}',
    '{"auction": {"ge": 1, "ge": 2}}',
    '{"Auction": 1}',
    '{"seller": 1}',
    '{"": 1}',
    '{"tags": [1]}',
    '{"tags": {"ge": 1}}',
    '{"url": "\ttab"}',
    "[" * 2000,
]
"""Texts that are no object, or objects that say nothing, or nothing readable."""

PATTERNS = {
    "auction": """
        0 -0 7 -7 1001 9223372036854775807 -9223372036854775808 9223372036854775808 -9223372036854775809
        1.0 1e3 1.5 "7" true null {} [] [1] [1,2,1] [1,"2"] [1,null] [1,[2]] [1,{"ge":2}] [[]] [1.0]
        {"ge":1} {"gt":1} {"le":1} {"lt":1} {"ge":1,"le":5} {"gt":1,"lt":5} {"ge":5,"le":5} {"ge":5,"lt":5}
        {"gt":5,"le":5} {"ge":5,"lt":1} {"ge":1,"gt":1} {"le":1,"lt":1} {"ge":1,"x":2} {"x":1} {"GE":1}
        {"ge":null} {"ge":"1"} {"ge":1.5} {"ge":[1]} {"ge":{"ge":1}} {"lt":9223372036854775808}
        123456789012345678 1234567890123456789 99999999999999999999999999999999999999999999
    """,
    "bidder": "7 2147483647 2147483648 -2147483648 -2147483649 [1,2147483648] 1e2",
    "tiny": '127 128 -128 -129 {"ge":-128,"le":127} [127,128]',
    "price": """
        1 1.5 1.50 1.500 1.5000000000000000000000000000000 1.005 -0.01 99999999.99 99999999.995 100000000 2e3 2E-2
        2e-3 1e999 1.5e1 "1.50" true [1,1.5] [1,1.005] {"ge":1.25,"lt":1.5} {"ge":1.255} 1e-400
    """,
    "wide": """
        0.1 1234567890123456789012345678.0123456789 12345678901234567890123456789 0.00000000001
        9223372036854775808 1e20 -1e-10
    """,
    "weight": """
        1 0.1 -0.0 1e3 1.5E-7 1e400 -1e400 1e-400 5e-324 123456789012345678901234567890 9007199254740993 "1"
        0.30000000000000004 1e999999999999 true {"gt":0.1,"le":1e3} [0,0.0,-0.0] 1.7976931348623157e308
        0.1000000000000000055511151231257827021181583404541015625
    """,
    "single": '1 0.1 16777217 1e38 1e39 -1e39 1e-60 {"ge":0.1}',
    "url": r"""
        "" "é" "\u00e9" "\n" "\\" "\"" "'" "a'b" "\ud83d\ude00" "😀" "\ud800" "\udc00x" "\u0000" 1 true
        ["a","b","a"] {"ge":"a","lt":"b"} {"ge":"b","lt":"a"} "\x" "null" "ﬁ" "e\u0301"
    """,
    "code": '"12345" "123456" "" 7 {"ge":"123456"}',
    "open": 'true false 1 0 "true" [true,false] {"ge":false} {"lt":true} null',
    "day": """
        "2024-02-29" "2023-02-29" "2024-2-9" "20240229" "2024-02" "2024-02-29T00:00" "0001-01-01" "9999-12-31"
        "10000-01-01" "0000-01-01" "-2024-01-01" 19000 "epoch" "today" "2024-02-29Z"
        {"ge":"2024-01-01","lt":"2024-02-01"}
        ["2024-01-01","2024-01-02"] "2024-02-30" "٢٠٢٤-٠١-٠١"
    """,
    "at": """
        "2024-02-29T12:00" "2024-02-29_12:00:00" "2024-02-29T12:00:00" "2024-02-29T12:00:00.5"
        "2024-02-29T12:00:00.123456" "2024-02-29T12:00:00.1234567"
        "2024-02-29T12:00:00Z" "2024-02-29T12:00:00+02:00" "2024-02-29T12:00:00-02:30"
        "2024-02-29T12:00+00:00" "2024-02-29T12:00+2:00" "2024-02-29T12:00+02" "2024-02-29T12:00+0200"
        "2024-02-29T12:00_UTC" "2024-02-29T12:00UTC" "2024-02-29T12:00Europe/Berlin" "2024-02-29T12:00z"
        "2024-02-29" "2024-02-29T12" "2024-02-29T1:00" "2024-02-29T24:00" "2024-02-29T12:60" "2024-02-29T12:00:60"
        "2023-02-29T12:00" "2024-02-29t12:00" "T12:00" 1709208000 "now" "0001-01-01T00:00"
        "9999-12-31T23:59:59.999999"
        "0000-01-01T00:00" "2024-02-29T12:00:00." "2024-02-29T12:00:00,5" "2024-02-29T12:00:00+18:00"
        "2024-02-29T12:00:00+18:01" "2024-02-29T12:00:00+19:00" "2024-02-29T12:00:00-00:00" "2024-02-29T12:00:00Z_"
        {"ge":"2024-02-29T12:00","lt":"2024-02-29T13:00"} {"lt":"2024-02-29T12:00Z"} {"lt":"2024-02-29"}
        "9999-12-31T23:59:59-01:00" "0001-01-01T00:00:00+01:00"
    """,
    "local": """
        "2024-02-29T12:00" "2024-02-29T12:00:00.25" "2024-02-29T12:00Z" "2024-02-29T12:00+01:00" "2024-02-29"
    """,
}
"""Patterns by column, in JSON without white space; `_` in a time stands for a blank."""


STRICTER = {"2e3", "2E-2", "1.5e1", "1e20", "-1e-10", '"2024-02-29T12:00:00+18:01"', '"2024-02-29T12:00:00+19:00"'}
"""Refused on Spark alone, which is the safe side: decimals with an exponent (they are doubles to its JSON reader)
and zones beyond 18 hours (its times know none)."""


def numbered() -> dict[int, tuple[str, str]]:
    """Every pattern with a number, which is also in the punctuation's own text: so all are read in one job."""
    cases = [(name, each) for name, patterns in PATTERNS.items() for each in patterns.split()]
    spaced = [(name, each.replace("_", " ") if name == "at" else each) for name, each in cases]
    return {i: (name, f'{{"n": {i}, "{name}": {each}}}') for i, (name, each) in enumerate(spaced)}


def meaning(pattern: Pattern) -> frozenset[Pattern]:
    """A pattern as the constants and ranges that it consists of."""
    match normal(pattern):
        case Listed(values):
            return frozenset(Constant(value) for value in values)
        case Empty():
            return frozenset()
        case other:
            return frozenset({other})


def expected(name: str, text: str) -> frozenset[Pattern] | None:
    if name in ("price", "wide", "at") and any(text.endswith(f" {each}}}") for each in STRICTER):
        return None
    try:
        return meaning(dict(read(text, COLUMNS).patterns).get(name, Wildcard()))
    except Unreadable:
        return None


def value(collected: Any, type: Type) -> Value:
    """Times come as texts, since Python has no name for some that Spark knows."""
    if not type.temporal:
        return cast(Value, collected)
    try:
        if type.kind == "DATE":
            return date.fromisoformat(collected)
        return datetime.fromisoformat(collected).replace(tzinfo=UTC if type.kind == "TIMESTAMP" else None)
    except ValueError:
        return f"the time {collected}"


def temporal(sql: str, name: str) -> str:
    """A value that has a temporal type as a text, and all others as they are."""
    return f"CAST({sql} AS STRING)" if COLUMNS[name].temporal else sql


def parsed(spark: SparkSession, reader: Reader, texts: list[str]) -> DataFrame:
    frame = spark.createDataFrame([(text,) for text in texts], "text STRING")
    return reader.parse(leaf(frame), "text").frame(spark).localCheckpoint()


def test_the_same_texts_are_refused(spark: SparkSession) -> None:
    found = parsed(spark, Reader(COLUMNS, ()), TEXTS).select("text", "kind").collect()
    accepted = {row["text"] for row in found if row["kind"] != UNREADABLE}
    assert accepted == {text for text in TEXTS if expected("", text) is not None}


@pytest.fixture(scope="module", name="spark")
def of_the_driver(spark: SparkSession) -> SparkSession:
    return work_session(spark)


@pytest.fixture(scope="module")
def boxes(spark: SparkSession) -> dict[int, frozenset[Pattern] | None]:
    """What Spark takes each numbered text to mean, when all are read as boxes."""
    cases = numbered()
    frame = parsed(spark, Reader(COLUMNS, ()), [text for _, text in cases.values()])
    readable = {row["text"] for row in frame.where(f"kind <> '{UNREADABLE}'").select("text").collect()}
    found: dict[int, set[Pattern]] = {i: set() for i, (_, text) in cases.items() if text in readable}
    closed = Reader(COLUMNS, ()).closed(leaf(frame), {BOX: len(found)})
    assert closed.boxes is not None
    flat = [
        f"struct({temporal(f'{c}.low', c)}, {temporal(f'{c}.high', c)}, {c}.low_open, {c}.high_open)"
        for c in PATTERNS
    ]
    for n, *intervals in closed.boxes.frame(spark).selectExpr("n.low", *flat).collect():
        name, _ = cases[n]
        low, high, low_open, high_open = intervals[list(PATTERNS).index(name)]
        low, high = (None if end is None else value(end, COLUMNS[name]) for end in (low, high))
        found[n] |= meaning(Range(low, high, low_open, high_open))
    return {i: frozenset(found[i]) if i in found else None for i in cases}


@pytest.mark.parametrize("column", PATTERNS)
def test_patterns_mean_the_same(boxes: dict[int, frozenset[Pattern] | None], column: str) -> None:
    cases = {i: text for i, (name, text) in numbered().items() if name == column}
    differences = [
        f"{text}: here {boxes[i]}, should be {expected(column, text)}"
        for i, text in cases.items()
        if boxes[i] != expected(column, text)
    ]
    assert not differences, "\n".join(differences)


def test_constants_and_lists_become_points_of_the_same_values(spark: SparkSession) -> None:
    keys = tuple(("n", name) for name in PATTERNS)
    reader = Reader(COLUMNS, keys)
    cases = {
        i: (name, text)
        for i, (name, text) in numbered().items()
        if (patterns := expected(name, text)) is not None and all(isinstance(p, Constant) for p in patterns)
    }
    frame = parsed(spark, reader, [text for _, text in cases.values()])
    counts = {row["kind"]: row["count"] for row in frame.groupBy("kind").count().collect()}
    assert counts.keys() <= {*kinds(keys)}
    closed = reader.closed(leaf(frame), counts)
    found: dict[int, set[Pattern]] = {i: set() for i in cases}
    for (_, name), points in closed.points.items():
        for n, constant in points.frame(spark).selectExpr("n", temporal(name, name)).collect():
            found[n].add(Constant(value(constant, COLUMNS[name])))
    for i, (name, text) in cases.items():
        if "{" not in text[1:]:  # a range of one value is a constant to the model and a box here
            assert frozenset(found[i]) == expected(name, text), text


def test_plain_numbers_are_read_without_a_parser_and_mean_the_same(spark: SparkSession) -> None:
    reader = Reader(COLUMNS, (("auction",), ("tiny",), ("at",), ("auction", "tiny")))
    numbers = [
        "0",
        "-0",
        "7",
        "-7",
        "007",
        "127",
        "128",
        "99",
        "-99",
        "1.0",
        "1e3",
        '"7"',
        "9" * 18,
        "9" * 19,
        "١",
    ]
    texts = [f'{{"{name}": {number}}}' for name in ("auction", "tiny") for number in numbers]
    texts += [
        '  {  "auction"  :  5  }  ',
        '{"auction": 6}\n',
        '{"auction": 1, "tiny": 1}',
        '{"auction": 8} x',
        "{}",
    ]
    frame = spark.createDataFrame([(text,) for text in texts], "text STRING")
    for name, number in reader.plain("text").items():
        plain = [row["text"] for row in frame.where(f"{number} IS NOT NULL").collect()]
        assert f'{{"{name}": 7}}' in plain
        points = reader.plain_points(leaf(frame), "text").present([name]).frame(spark)
        wanted = [dict(read(text, COLUMNS).patterns)[name] for text in plain]
        assert sorted(row[name] for row in points.collect()) == sorted(
            p.value for p in wanted if isinstance(p, Constant)
        )
    assert EVERYTHING in kinds(reader.keys)
