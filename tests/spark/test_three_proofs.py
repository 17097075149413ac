"""One query whose inputs are bounded each in its own way: by a synopsis, by punctuations, by a window.

Parcels leave when the truck of their route has left, trucks with time. Requests for a kind never end, but
there are few kinds: the requests are a synopsis, and so is what was loaded.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from caesura.safety.verdict import check_all
from caesura.testing.script import Item, Script
from tests.spark.against_duckdb import Database, inserts

STREAMS = {
    "request": "kind INT, urgent BOOLEAN",
    "parcel": "id BIGINT, kind INT, route BIGINT, stamp BIGINT",
    "truck": "route BIGINT, name STRING, stamp BIGINT",
}
PROMISES = {
    "request": "CHECK (kind BETWEEN 1 AND 5)",
    "parcel": "ORDERED BY (stamp)",
    "truck": "PUNCTUATED BY (route), ORDERED BY (stamp)",
}
MOST = 2 * (16 + 12 + 5 + 16 + 15)
"""Of each query: parcels and trucks of four times; requests and what was loaded of each kind; groups."""
IN_TIME = "r.kind = p.kind AND p.route = t.route AND p.stamp <= t.stamp + 3"
QUERIES = {
    "counted": f"""SELECT /*+ TREE(r, (p, t)) */ r.kind, r.urgent, COUNT(*) AS n, MAX(p.id) AS newest
        FROM request AS r, parcel AS p, truck AS t WHERE {IN_TIME} GROUP BY r.kind, r.urgent""",
    "urgent": f"""SELECT /*+ TREE(r, (p, t)) */ DISTINCT r.kind
        FROM request AS r, parcel AS p, truck AS t WHERE {IN_TIME} AND r.urgent""",
}


def arrivals(slices: int, chance: Random) -> list[dict[str, list[Item]]]:
    """Slice n has route n, which is closed in the next; time is the number of the slice."""
    found: list[dict[str, list[Item]]] = []
    for n in range(1, slices + 1):
        routes = [each for each in (n - 1, n) if each > 0]
        found.append(
            {
                "request": [
                    {"kind": chance.randint(1, 5), "urgent": chance.choice((True, False, None))} for _ in range(3)
                ],
                "parcel": [
                    {"id": 10 * n + k, "kind": chance.randint(1, 7), "route": chance.choice(routes), "stamp": n}
                    for k in range(4)
                ],
                "truck": [
                    *({"route": chance.choice(routes), "name": f"truck {k}", "stamp": n} for k in range(2)),
                    f'{{"route": {n - 1}}}',
                ],
            }
        )
    return found


def test_each_input_has_its_own_proof(spark: SparkSession, tmp_path: Path) -> None:
    for verdict in check_all(Script(spark, tmp_path, pipeline()).prepared.pipeline.queries):
        found = {state.input: state.by for state in verdict.states if state.operator.startswith("join")}
        assert found == {"r": "synopsis", "p": "punctuation", "t": "window", "join": "synopsis"}


@pytest.mark.parametrize("slices", [6, pytest.param(300, marks=pytest.mark.long)])
def test_state_is_flat_and_results_equal_duckdb(spark: SparkSession, tmp_path: Path, slices: int) -> None:
    script = Script(spark, tmp_path, pipeline())
    for arrived in arrivals(slices, Random(slices)):
        script.slice(**arrived)
    database = Database(tmp_path, STREAMS, QUERIES)
    script.run_to_end()
    for name in QUERIES:
        assert Counter(database.found(name)) == Counter(database.wanted(name))
    rows = [each.state_rows for each in script.progress[3:-1]]
    assert max(rows) <= MOST
    assert script.progress[-1].state_rows == 0


def pipeline() -> str:
    streams = (
        f"CREATE STREAM {name} ({columns}, {PROMISES[name]}) FROM FILES {name};"
        for name, columns in STREAMS.items()
    )
    return "\n".join((*streams, inserts(QUERIES)))
