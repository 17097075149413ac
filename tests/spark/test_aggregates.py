"""Every aggregate over several slices gives what the model gives, and what Spark gives over all rows at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

from pyspark.sql import SparkSession

from caesura import plan
from caesura.aggregates import FUNCTIONS
from caesura.diagnostics import Source
from caesura.model.group import Group
from caesura.model.operator import Row, Slice, run
from caesura.punctuation import EVERYTHING, Constant, Punctuation
from caesura.spark.purge import PurgePolicy
from caesura.spark.run import Settings, start
from caesura.sql.bind import bind
from caesura.sql.datatypes import read_type
from caesura.testing.script import Script

# Called as in the first column, which the model knows too; Spark may need to be told which of several results.
CALLS = {
    "COUNT(*)": "",
    "COUNT(d)": "",
    "COUNT(d, s)": "",
    "COUNT_IF(b)": "",
    "COUNT(DISTINCT i)": "",
    "COUNT(DISTINCT i, s)": "",
    "APPROX_COUNT_DISTINCT(d)": "",
    "SUM(i)": "",
    "SUM(d)": "",
    "SUM(x)": "",
    "SUM(DISTINCT i)": "",
    "SUM(DISTINCT x)": "",
    "AVG(i)": "",
    "MEAN(x)": "",
    "AVG(DISTINCT x)": "",
    "AVG(DISTINCT d)": "",
    "MIN(s)": "",
    "MAX(dt)": "",
    "MAX(DISTINCT x)": "",
    "ANY_VALUE(i)": "MIN(i)",
    "EVERY(b)": "",
    "ANY(b)": "",
    "BIT_AND(i)": "",
    "BIT_OR(i)": "",
    "BIT_XOR(i)": "",
    "MAX_BY(s, d)": "MAX(IF(d IS NULL, NULL, struct(d, s))).s",
    "MIN_BY(x, dt)": "MIN(IF(dt IS NULL, NULL, struct(dt, x))).x",
    "VAR_POP(d)": "",
    "VARIANCE(x)": "",
    "STDDEV_POP(i)": "",
    "STDDEV(d)": "",
    "SKEWNESS(d)": "",
    "KURTOSIS(d)": "",
    "COVAR_POP(d, i)": "",
    "COVAR_SAMP(d, x)": "",
    "CORR(d, i)": "",
    "MEDIAN(x)": "",
    "PERCENTILE(d, 0.3)": "",
    "PERCENTILE(i, ARRAY(0, 0.25, 1))": "",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY d)": "",
    "PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY i)": "",
    "MODE(s)": "MODE(s, true)",
    "MODE() WITHIN GROUP (ORDER BY i)": "",
    "ARRAY_AGG(x)": "array_sort(collect_list(x))",
    "COLLECT_LIST(s)": "array_sort(collect_list(s))",
    "COLLECT_SET(i)": "array_sort(collect_set(i))",
    "COLLECT_LIST(DISTINCT dt)": "array_sort(collect_set(dt))",
}
# What is computed below the group; the model has no expressions.
COMPUTED = {
    "SUM(d * 2 + i)": "",
    "COUNT(*) FILTER (WHERE i > 0)": "",
    "MAX_BY(s, d) FILTER (WHERE i > 0)": "MAX(IF(d IS NULL OR i <= 0 OR i IS NULL, NULL, struct(d, s))).s",
    "MEDIAN(d) FILTER (WHERE s IS NOT NULL)": "",
    "COUNT(DISTINCT s, i) FILTER (WHERE b)": "",
    "COUNT(DISTINCT i) FILTER (WHERE b)": "",
    "COUNT(DISTINCT i) FILTER (WHERE x > 1)": "",
    "SUM(DISTINCT x) FILTER (WHERE NOT b)": "",
    "COUNT(DISTINCT CASE WHEN b THEN i END) FILTER (WHERE i > 0)": "",
    "STDDEV(d + 1e9) FILTER (WHERE NOT b)": "",
    "MAX(x) - MIN(x)": "",
}
COLUMNS = "k BIGINT, i INT, d DOUBLE, x DECIMAL(10, 2), s STRING, dt DATE, b BOOLEAN"
ROWS: list[list[tuple[object, ...]]] = [  # by slice
    [
        (1, 5, 1.5, "1.10", "b", date(2026, 1, 3), True),
        (1, -7, 2.25, "-3.35", "a", date(2025, 12, 31), None),
        (1, 5, None, "1.10", "b", None, False),
        (2, None, None, None, None, None, None),
        (None, 3, 4.0, "0.01", "z", date(2026, 2, 2), False),
    ],
    [
        (1, 12, -8.5, "99999999.99", None, date(2026, 1, 1), True),
        (1, None, 2.25, None, "c", date(2026, 1, 2), True),
        (2, None, None, None, None, None, None),
        (3, 6, 0.5, "2.00", "only", date(2026, 3, 3), False),
    ],
    [
        (1, 1, 1e6, "0.07", "b", date(2026, 1, 3), False),
        (1, 5, 3.75, "7.77", "", date(2024, 2, 29), False),
        (1, 0, -0.125, "1.10", "é", date(2026, 1, 4), True),
        (None, 3, 4.0, None, "y", None, True),
    ],
]
NAMES = ("k", "i", "d", "x", "s", "dt", "b")
KEYS = {"out": "k", "nothing": ""}


def names(calls: Mapping[str, str]) -> list[str]:
    return [f"c{i}" for i in range(len(calls))]


def selected(*, by_spark: bool) -> str:
    calls = CALLS | COMPUTED
    texts = [(sparks or call) if by_spark else call for call, sparks in calls.items()]
    return ", ".join(f"{text} AS {name}" for text, name in zip(texts, names(calls), strict=True))


def query(sink: str, *, by_spark: bool = False) -> str:
    where = " WHERE i > 1000" if sink == "nothing" else ""
    group = " GROUP BY k HAVING MEDIAN(i) IS NULL OR COUNT(DISTINCT i) < 100" if KEYS[sink] else ""
    key = "k, " if KEYS[sink] else ""
    return f"SELECT {key}{selected(by_spark=by_spark)} FROM r{where}{group}"


PIPELINE = f"CREATE STREAM r ({COLUMNS}, PUNCTUATED BY (k)) FROM FILES r;" + "".join(
    f"CREATE SINK {sink} USING parquet LOCATION '{sink}'; INSERT INTO {sink} {query(sink)};" for sink in KEYS
)


def close(found: object, wanted: object) -> bool:
    """Equal, or doubles of which nine digits are."""
    if isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    if isinstance(found, float) and isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return found == wanted


def differences(found: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    calls = dict(zip(names(CALLS | COMPUTED), CALLS | COMPUTED, strict=True))
    return {calls.get(n, n): (found[n], wanted[n]) for n in wanted if not close(found[n], wanted[n])}


def test_every_function_is_called() -> None:
    groups = [node for node in plan.walk(bound("out")) if isinstance(node, plan.Group)]
    assert {aggregate.function for group in groups for aggregate in group.aggregates} == set(FUNCTIONS)


def bound(sink: str) -> plan.Plan:
    text = PIPELINE.replace("FROM FILES r", "USING json LOCATION 'r'")
    return next(each.plan for each in bind(Source("test.sql", text)).queries if each.name == sink)


def of_the_model(sink: str) -> list[dict[str, object]]:
    """The results of the calls without expressions."""
    top = bound(sink)
    group = next(node for node in plan.walk(top) if isinstance(node, plan.Group))
    plain = tuple(a for a in group.aggregates if all(name.startswith("r.") for name in a.arguments))
    slices = [
        Slice(tuple(Row.of({f"r.{n}": v for n, v in zip(NAMES, decimals(row), strict=True)}) for row in rows))
        for rows in (ROWS if sink != "nothing" else [])
    ]
    closing = Slice(punctuations=frozenset({Punctuation((("r.k", Constant(1)),))}))
    outputs = run(
        Group(group.keys, plain), [(each,) for each in (*slices, closing, Slice((), frozenset({EVERYTHING})))]
    )
    assert isinstance(top, plan.Project)
    wanted = {output.expr.column: output.name for output in top.outputs}
    rows = (row for output in outputs for row in output.rows)
    return [{wanted[n]: value for n, value in row.items() if n in wanted} for row in rows]


def decimals(row: tuple[object, ...]) -> list[object]:
    return [Decimal(str(value)) if i == 3 and value is not None else value for i, value in enumerate(row)]


def test_slice_by_slice_as_the_model_and_at_once_as_spark(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, PIPELINE)
    for number, rows in enumerate(ROWS):
        punctuations = ['{"k": 3}', '{"k": 2}'] if number == len(ROWS) - 1 else []
        script.slice(r=[*(dict(zip(NAMES, row, strict=True)) for row in rows), *punctuations])
    # Without a proof for the groups that nothing closes; some slices append to the state, some write it anew.
    lazy = PurgePolicy(eager_rows=0, max_deltas=2)
    settings = Settings(folder=str(tmp_path), checkpoint=str(tmp_path / "checkpoint"), until_end=True, purge=lazy)
    running = start(spark, script.prepared.pipeline, settings)
    running.awaitTermination()
    assert running.quarantine().count() == 0

    spark.read.schema(COLUMNS).json(str(tmp_path / "r")).where("k IS NOT NULL OR i IS NOT NULL").createTempView(
        "r"
    )
    for sink, key in KEYS.items():
        at_once = spark.sql(query(sink, by_spark=True))
        types = [str(read_type(field.dataType.simpleString())) for field in at_once.schema.fields]
        assert [str(column.type) for column in bound(sink).columns] == types
        found = {row.get(key): row for row in script.rows(sink)}
        assert len(found) == {"out": 4}.get(sink, 1)
        for row in at_once.collect():
            assert differences(found[row[key] if key else None], row.asDict()) == {}, "as Spark"
        for wanted in of_the_model(sink):
            assert differences(found[wanted.get(key)], wanted) == {}, "as the model"
