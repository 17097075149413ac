"""Queries over streams that promise nothing, bounded by their conditions: results as DuckDB's, for slices of any
size, and synopses that never exceed the bound that `explain` tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from caesura.progress import Progress
from caesura.safety.synopsis import Synopsis
from caesura.safety.verdict import check_all
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Item, Script
from tests.spark.against_duckdb import Database, inserts

STREAMS = {
    "s": "a INT, b INT, c BIGINT, x DOUBLE, day DATE",
    "t": "d INT, e BIGINT, f BIGINT, y DOUBLE, day DATE",
    "u": "g INT, h INT, z BOOLEAN",
}
QUERIES = {
    "equal": "SELECT s.a FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20",
    "equal_distinct": "SELECT DISTINCT s.a FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20",
    "least_and_greatest": "SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND s.a > 10 AND s.a < 20",
    "at_most": "SELECT DISTINCT s.a FROM s, t WHERE s.b <= t.d AND s.a BETWEEN 11 AND 19",
    "smaller_of_two": "SELECT DISTINCT s.a FROM s, t WHERE t.d < s.b AND t.d <= s.c AND s.a BETWEEN 12 AND 15",
    "beyond_the_constants": "SELECT t.d FROM s, t WHERE s.b < t.d AND t.d > 4 AND t.d < 8",
    "beyond_on_both_sides": "SELECT s.a FROM s, t WHERE s.b < 5 AND t.d > 4 AND s.b < t.d AND s.a IN (11, 13)",
    "around": "SELECT DISTINCT u.z FROM s, t, u WHERE s.b < t.e AND t.e < s.c AND s.b < 0 AND s.c > 25 AND u.z",
    "three": """SELECT s.a, u.z FROM s, t, u WHERE s.a = t.d AND t.d = u.g AND s.a BETWEEN 11 AND 14
        AND s.b < s.c""",
    "days": """SELECT s.day, t.d FROM s, t
        WHERE s.day = t.day AND t.d BETWEEN 12 AND 14 AND s.day <= DATE '2026-01-04'
        AND s.day >= DATE '2026-01-02'""",
    "doubles": "SELECT DISTINCT s.a FROM s, t WHERE s.x < t.y AND s.a IN (11, 12, 13)",
    "counted": """SELECT s.a, COUNT(*) AS n, COUNT(t.e) AS es, SUM(t.e) AS total, AVG(s.x) AS mean,
        MAX(s.c) AS most, MIN(t.f) AS least FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20 GROUP BY s.a""",
    "spread": """SELECT t.d, STDDEV_POP(s.x) AS sd, VAR_SAMP(t.y) AS v, BIT_XOR(t.e) AS bits,
        MAX_BY(s.b, s.c * 100 + s.b) AS top, COUNT_IF(coalesce(s.x, 0) > 1) AS large, MEDIAN(t.d) AS middle,
        COUNT(DISTINCT s.a) AS several
        FROM s, t WHERE s.a = t.d AND s.a > 10 AND t.d < 20 GROUP BY t.d""",
    "both_sides": """SELECT COUNT(*) AS n, SUM(s.a * t.d) AS product, SUM(s.c + 1) AS shifted
        FROM s, t WHERE s.a BETWEEN 11 AND 13 AND t.d BETWEEN 15 AND 17""",
    "greatest_that_decides": """SELECT s.a, MAX(s.c) AS most FROM s, t
        WHERE t.e < s.c AND s.a IN (11, 12) GROUP BY s.a""",
    "greatest_of_all": "SELECT t.d, MAX(s.b) AS most FROM s, t WHERE s.a = t.d AND s.a IN (11, 15) GROUP BY t.d",
    "with_nulls": "SELECT s.a, u.h FROM s, u WHERE u.g = 12 AND s.a BETWEEN 11 AND 12",
    "redundant": """SELECT DISTINCT one.a FROM s AS one, s AS other
        WHERE one.b = other.b AND one.a BETWEEN 11 AND 19""",
    "contradicting": "SELECT s.a FROM s, t WHERE s.a < t.d AND t.d < s.a",
    "every_row": "SELECT u.z, COUNT(*) AS n FROM s, u GROUP BY u.z",
    "above_a_subquery": """SELECT a, n FROM (SELECT s.a AS a, COUNT(*) AS n FROM s, t
        WHERE s.a = t.d AND s.a BETWEEN 11 AND 19 GROUP BY s.a) AS grouped WHERE n > 3""",
    "listed": """SELECT s.a FROM s, u WHERE s.b = u.h AND u.h IN (1, 3) AND s.a IN (12, 14, 16)""",
    "at_a_distance": """SELECT u.g FROM u, t WHERE u.g = u.h + 10 AND u.g < t.d
        AND u.g BETWEEN 9 AND 13 AND t.d BETWEEN 11 AND 14""",
    "beyond_the_type": "SELECT s.a FROM s, t WHERE t.e = 3000000000 AND t.e > s.a AND s.a BETWEEN 11 AND 12",
    "with_a_table": """SELECT s.a, v.w, COUNT(*) AS n FROM s, t, VALUES (11, 1), (12, 2), (12, 3) AS v (k, w)
        WHERE s.a = v.k AND t.d = v.k AND s.a BETWEEN 11 AND 14 GROUP BY s.a, v.w""",
    "shared": "SELECT DISTINCT a FROM pairs",
    "shared_too": "SELECT a, d FROM pairs WHERE d > 15",
}
PAIRS = "SELECT s.a, t.d FROM s, t WHERE s.a <= t.d AND s.a BETWEEN 11 AND 19 AND t.d BETWEEN 11 AND 19"


def rows(stream: str, chance: Random) -> dict[str, object]:
    """A NULL in about every tenth cell; values on both sides of all constants."""
    drawn: dict[str, dict[str, object]] = {
        "s": {"a": chance.randint(8, 22), "b": chance.randint(-9, 30), "c": chance.randint(-9, 40)},
        "t": {"d": chance.randint(2, 22), "e": chance.randint(-9, 40), "f": chance.randint(-99, 99)},
        "u": {"g": chance.randint(9, 16), "h": chance.choice((1, 2, 3)), "z": chance.random() < 0.5},
    }
    more: dict[str, dict[str, object]] = {
        "s": {"x": chance.randint(-40, 40) / 8, "day": f"2026-01-0{chance.randint(1, 6)}"},
        "t": {"y": chance.randint(-40, 40) / 8, "day": f"2026-01-0{chance.randint(1, 6)}"},
        "u": {},
    }
    return {
        name: None if chance.random() < 0.1 else value for name, value in {**drawn[stream], **more[stream]}.items()
    }


def slices(chance: Random) -> Iterator[Mapping[str, list[Item]]]:
    for sizes in zip(*(chance.sample((0, 1, 50), 3) for _ in STREAMS), strict=True):
        yield {name: [rows(name, chance) for _ in range(size)] for name, size in zip(STREAMS, sizes, strict=True)}


def pipeline() -> str:
    streams = (f"CREATE STREAM {name} ({columns}) FROM FILES {name};" for name, columns in STREAMS.items())
    checked = "CHECK (h IN (1, 2, 3))"
    declared = "\n".join(streams).replace("z BOOLEAN", f"z BOOLEAN, {checked}")
    return f"{declared}\nCREATE VIEW pairs AS {PAIRS};\n{inserts(QUERIES)}"


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_results_equal_duckdb_and_synopses_stay_within_their_bounds(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    script = Script(spark, tmp_path, pipeline())
    for arrivals in slices(Random(seed)):
        script.slice(**arrivals)
    database = Database(tmp_path, STREAMS, QUERIES, (f"CREATE VIEW pairs AS {PAIRS}",))
    wanted = {name: Counter(map(rounded, database.wanted(name))) for name in QUERIES}
    verdicts = check_all(script.prepared.pipeline.queries)
    proofs = [state.proof for each in verdicts for state in each.states if isinstance(state.proof, Synopsis)]
    bound = max(proof.bound for proof in proofs if proof.bound is not None)
    wrong: list[tuple[object, ...]] = []

    def contained(progress: Progress) -> None:
        for name in QUERIES:
            found = Counter(map(rounded, database.found(name)))
            if surplus := found - wanted[name]:
                wrong.append((progress.slice, name, surplus, wanted[name] - found))
        wrong.extend(
            (progress.slice, table, rows)
            for table, rows in progress.state.items()
            if table.startswith("join") and rows > bound
        )

    query = script.prepared.start(until_end=True, on_progress=contained)
    query.awaitTermination()
    assert wrong == [], "\n".join(map(str, wrong))
    for name in QUERIES:
        assert Counter(map(rounded, database.found(name))) == wanted[name], name
    assert sum(not rows for rows in wanted.values()) <= len(QUERIES) // 5


def rounded(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(round(value, 9) if isinstance(value, float) else value for value in row)


@pytest.mark.parametrize("policy", [PurgePolicy(), PurgePolicy(eager_rows=0)], ids=["eager", "lazy"])
def test_synopses_survive_a_restart(spark: SparkSession, tmp_path: Path, policy: PurgePolicy) -> None:
    """Also where they are appended to, and merged only now and then."""
    queries = {name: QUERIES[name] for name in ("equal", "smaller_of_two", "counted")}
    streams = (f"CREATE STREAM {name} ({columns}) FROM FILES {name};" for name, columns in STREAMS.items())
    script = Script(spark, tmp_path, "\n".join((*streams, inserts(queries))), purge=policy)
    for number, arrivals in enumerate(slices(Random(5))):
        script.slice(**arrivals)
        if number < 2:
            script.run()
    script.run_to_end()
    database = Database(tmp_path, STREAMS, queries)
    for name in queries:
        assert Counter(map(rounded, database.found(name))) == Counter(map(rounded, database.wanted(name))), name
    assert script.progress[-1].state_rows == 0
