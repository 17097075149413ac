"""Which joins of a pipeline become one, and what each query takes of it."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Filter, Join, Pipeline, Scan, walk
from caesura.planning.choose import executed
from caesura.planning.share import shared
from caesura.sql.bind import bind

STREAMS = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'a';
CREATE STREAM b (k BIGINT, kind STRING, y BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'b';
CREATE STREAM c (k BIGINT, kind STRING, z BIGINT, PUNCTUATED BY (k, kind)) USING json LOCATION 'c';
"""


def together(*queries: str) -> Pipeline:
    pipeline = bind(Source("test.sql", STREAMS + ";\n".join(queries) + ";"))
    return shared(executed(pipeline, tuple(() for _ in pipeline.queries)))


def joins(pipeline: Pipeline) -> list[Join]:
    nodes = dict.fromkeys(node for query in pipeline.queries for node in walk(query.plan))
    return [node for node in nodes if isinstance(node, Join)]


def filters(pipeline: Pipeline) -> list[list[str]]:
    """Of each query, what is asked above the join."""
    return [
        [node.predicate.sql for node in walk(query.plan) if isinstance(node, Filter) and not _reads(node)]
        for query in pipeline.queries
    ]


def _reads(node: Filter) -> bool:
    return isinstance(node.input, Scan)


def test_queries_that_join_alike_have_one_join() -> None:
    pipeline = together(
        "SELECT a.k, x, y FROM a JOIN b ON a.k = b.k",
        "SELECT l.k, SUM(r.y) AS total FROM a AS l JOIN b AS r ON r.k = l.k GROUP BY l.k",
        "SELECT a.x FROM a, b WHERE a.k = b.k AND b.y > 3 AND a.x < 7",
    )
    (join,) = joins(pipeline)
    assert [type(each) for each in join.inputs] == [Scan, Scan]
    assert filters(pipeline) == [[], [], ["`a.x` < 7", "`b.y` > 3"]]
    assert [[c.name for c in query.plan.columns] for query in pipeline.queries] == [
        ["k", "x", "y"],
        ["k", "total"],
        ["x"],
    ]


def test_the_one_join_reads_what_one_of_them_reads() -> None:
    pipeline = together(
        "SELECT a.k, y FROM a JOIN b ON a.k = b.k WHERE b.y > 3 AND a.x = 1",
        "SELECT p.k, q.y FROM a AS p JOIN b AS q ON p.k = q.k WHERE q.y < 0 AND p.x = 1",
    )
    (join,) = joins(pipeline)
    read = [each.predicate.sql for each in join.inputs if isinstance(each, Filter)]
    assert read == ["`a.x` = 1", "`b.y` > 3 OR `b.y` < 0"]
    assert filters(pipeline) == [["`b.y` > 3"], ["`b.y` < 0"]]


@pytest.mark.parametrize(
    "other",
    {
        "outer": "SELECT a.k, y FROM a LEFT JOIN b ON a.k = b.k",
        "another condition": "SELECT a.k, y FROM a JOIN b ON a.k = b.k AND a.x < b.y",
        "another order": "SELECT a.k, y FROM b JOIN a ON a.k = b.k",
        "other columns": "SELECT a.k, y FROM a JOIN b ON a.k = b.k AND a.x = b.y",
        "another stream": "SELECT a.k FROM a JOIN c ON a.k = c.k WHERE c.kind = 'x'",
    }.values(),
)
def test_joins_that_are_not_alike_stay_apart(other: str) -> None:
    assert len(joins(together("SELECT a.k, x, y FROM a JOIN b ON a.k = b.k", other))) == 2


def test_joins_that_are_safe_only_by_what_they_ask_stay_apart() -> None:
    """The stream c closes a key for one kind at a time: without `kind = 'x'` nothing ever leaves."""
    one, other = (f"SELECT a.k, z FROM a JOIN c ON a.k = c.k WHERE c.kind = '{kind}'" for kind in "xy")
    assert len(joins(together(one, other))) == 2
    assert len(joins(together(one, one.replace("z FROM", "z + 1 AS z FROM")))) == 1
