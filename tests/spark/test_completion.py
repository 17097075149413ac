"""What every part has closed is complete, and nothing else: compared with asking every part about every value."""

from __future__ import annotations

from itertools import product

import pytest
from pyspark.sql import SparkSession

from caesura.operators.closed import covered
from caesura.operators.rows import leaf
from caesura.punctuation import confined, match
from caesura.punctuation_json import read
from caesura.spark.completion import Completion
from caesura.spark.punctuations import Reader
from caesura.spark.run import work_session
from caesura.types import Type

TYPES = {"low": Type("INT"), "value": Type("STRING"), "hour": Type("DOUBLE"), "other": Type("INT")}
KEYS = (("low", "hour"), ("low", "value", "hour"), ("hour",), ("low",))
PARTS = [1, 2, 3]
HOURS = [n / 2 for n in range(-1, 30)]
SITES = ["x", "y", "z"]

RANGES = [
    '{"low": [1, 2, 3], "hour": 1}',
    '{"low": 1, "hour": {"ge": 2, "lt": 4}}',
    '{"low": 1, "hour": {"ge": 4, "le": 5}}',
    '{"low": {"ge": 2}, "hour": {"gt": 2, "le": 6}}',
    '{"low": 1, "hour": 6}',
    '{"low": [1, 2], "hour": {"gt": 8}}',
    '{"low": 3, "hour": [8, 9, 10]}',
    '{"low": {"gt": 2}, "hour": {"gt": 11, "lt": 12}}',
    '{"low": 9, "hour": 14}',
    '{"low": 3, "other": 1, "hour": 13}',
    '{"hour": 7}',
]
TOGETHER = [
    '{"low": [1, 2], "value": ["x", "y"], "hour": 1}',
    '{"low": 3, "value": "x", "hour": [1, 2]}',
    '{"low": {"le": 2}, "value": "x", "hour": [2, 3]}',
    '{"low": 3, "hour": 1}',
]


@pytest.mark.parametrize(
    ("columns", "texts", "found"),
    [
        (("hour",), RANGES, 11),
        (("hour",), [*RANGES, '{"low": 3}'], 21),
        (("value", "hour"), TOGETHER, 3),
        (("value", "hour"), [*TOGETHER, '{"low": {"gt": 2}}'], 4),
        (("value", "hour"), ['{"low": {"lt": 4}}'], len(SITES) * len(HOURS)),
        (("value", "hour"), ['{"low": [1, 2], "hour": 1}', '{"low": 3, "hour": 1}'], len(SITES)),
    ],
)
def test_values_that_all_parts_have_closed_are_complete(
    spark: SparkSession, columns: tuple[str, ...], texts: list[str], found: int
) -> None:
    spark = work_session(spark)
    reader = Reader(TYPES, KEYS)
    given = leaf(spark.sql("SELECT explode(:texts) AS text", {"texts": texts}))
    parsed = reader.parse(given, "text").frame(spark).localCheckpoint()
    kinds = {row["kind"]: row["count"] for row in parsed.groupBy("kind").count().collect()}
    known = reader.closed(leaf(parsed), kinds)
    parts = leaf(spark.createDataFrame([(part,) for part in PARTS], "low INT"))
    completion = Completion(columns, ("low",), parts, TYPES)
    assert completion.awaits(known)

    ps = [read(text, TYPES) for text in texts]
    about = [p for p in ps if "low" in p.attributes and confined(p, ("low", *columns))]
    domains: dict[str, list[object]] = {"value": [*SITES], "hour": [*HOURS]}
    values = list(product(*(domains[name] for name in columns)))

    def complete(value: tuple[object, ...]) -> bool:
        rows = [{"low": part, **dict(zip(columns, value, strict=True))} for part in PARTS]
        return all(any(match(row, p) for p in about) for row in rows)

    schema = ", ".join(f"{name} {TYPES[name]}" for name in columns)
    closed = covered(leaf(spark.createDataFrame(values, schema)), completion.closed(known))
    assert closed is not None
    assert sorted(map(tuple, closed.frame(spark).collect())) == [value for value in values if complete(value)]
    assert len([value for value in values if complete(value)]) == found
