"""Functions over frames in queries, by the side of DuckDB over the same rows: contained in its result after every
slice, and equal to it at the end. Where an order leaves rows equal, they are equal in all that is asked for."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.progress import Progress
from caesura.testing.drawn import Drawn
from caesura.testing.script import Script
from tests.spark.against_duckdb import Database, inserts

COLUMNS = "sensor BIGINT, place STRING, value DECIMAL(8, 2), seen TIMESTAMP"
START = datetime(2026, 1, 1)
DRAWN = Drawn(
    {
        "sensor": range(5),
        "place": ("Aachen", "Bonn", "Ulm"),
        "value": [Decimal(n) / 4 for n in range(8)],
        "seen": [START + timedelta(seconds=17 * n) for n in range(60)],
    },
    closing=[[("sensor", "seen")], [("sensor", "place")], [("sensor",)], [("place",)], []],
    rising="seen",
)
BY_ALL = "PARTITION BY sensor ORDER BY seen, place DESC, value"
BY_TIME = "PARTITION BY sensor ORDER BY seen"
LAST_MINUTES = "RANGE BETWEEN INTERVAL 2 MINUTES PRECEDING AND CURRENT ROW"
NEAR = f"{BY_TIME} {LAST_MINUTES}"
SEEN = "CAST(seen AS STRING) AS moment"
QUERIES = {
    "near": f"""SELECT sensor, {SEEN}, COUNT(*) OVER ({NEAR}) AS n, SUM(value) OVER ({NEAR}) AS total,
        MIN(place) OVER ({NEAR}) AS first, AVG(CAST(value AS DOUBLE)) OVER ({NEAR}) AS mean FROM reading""",
    "anywhere": f"""SELECT {SEEN}, COUNT(*) OVER (ORDER BY seen {LAST_MINUTES}) AS n,
        MAX(value) OVER (ORDER BY seen) AS most FROM reading""",
    "last_rows": f"""SELECT sensor, place, value, {SEEN}, SUM(value) OVER ({BY_ALL} ROWS 2 PRECEDING) AS three,
        value - LAG(value) OVER ({BY_ALL}) AS step, LAG(place, 2, 'none') OVER ({BY_ALL}) AS before,
        FIRST_VALUE(value) OVER ({BY_ALL} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS oldest FROM reading""",
    "so_far": f"""SELECT sensor, {SEEN}, COUNT(value) OVER ({BY_TIME}) AS n, SUM(value) OVER ({BY_TIME}) AS total,
        AVG(CAST(value AS DOUBLE)) OVER ({BY_TIME}) AS mean, MAX(place) OVER ({BY_TIME}) AS last,
        COUNT(*) FILTER (WHERE place = 'Bonn') OVER ({BY_TIME}) AS bonn FROM reading""",
    "known": f"""SELECT sensor, place, value, {SEEN}, FIRST_VALUE(value) OVER ({BY_ALL}) AS first,
        LAST_VALUE(value IGNORE NULLS) OVER ({BY_ALL} ROWS UNBOUNDED PRECEDING) AS last FROM reading""",
    "by_value": """SELECT sensor, value, COUNT(*) OVER (PARTITION BY sensor ORDER BY value DESC NULLS LAST) AS n
        FROM reading""",
    "rising": f"""SELECT sensor, {SEEN}, value FROM reading
        QUALIFY value > AVG(value) OVER (PARTITION BY sensor ORDER BY seen)""",
    "steps": """SELECT CAST(minute AS STRING) AS moment, COUNT(*) AS n, SUM(step) AS up
        FROM (SELECT date_trunc('minute', seen) AS minute,
        value - LAG(value, 1, 0) OVER (PARTITION BY sensor ORDER BY seen, place, value) AS step FROM reading)
        GROUP BY minute""",
}


@pytest.mark.long
def test_frames_of_queries_are_those_of_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    promises = "PUNCTUATED BY (sensor), ORDERED BY (seen), CHECK (seen IS NOT NULL)"
    script = Script(
        spark, tmp_path, f"CREATE STREAM reading ({COLUMNS}, {promises}) FROM FILES reading; {inserts(QUERIES)}"
    )
    for slice in DRAWN.slices(rows=40, seed=7):
        script.slice(reading=slice)
    database = Database(tmp_path, {"reading": COLUMNS}, QUERIES)
    wanted = {name: Counter(database.wanted(name)) for name in QUERIES}
    before_the_end: dict[str, int] = {}
    done: list[Progress] = []

    def contained(progress: Progress) -> None:
        done.append(progress)
        for name in QUERIES:
            found = Counter(database.found(name))
            assert not found - wanted[name], (progress.slice, name)
            if progress.rows_in:
                before_the_end[name] = found.total()

    unsafe = [each.query.name for each in script.prepared.check() if not each.safe]
    assert unsafe == ["by_value"]  # it keeps the rows of no sensor, which are drawn too
    query = script.prepared.start(until_end=True, on_progress=contained, allow_unbounded=True)
    query.awaitTermination()
    assert {name: Counter(database.found(name)) for name in QUERIES} == wanted
    assert all(before_the_end.values())
    assert query.quarantine().collect() == []
    assert done[-1].state_rows == 0


def test_a_range_of_times_without_a_zone_knows_no_change_of_clocks(spark: SparkSession, tmp_path: Path) -> None:
    """In New York there is no half past two on that day, and the hour after it would be the same time."""
    zoned = spark.newSession()
    zoned.conf.set("spark.sql.session.timeZone", "America/New_York")
    text = """
        CREATE STREAM reading (sensor BIGINT, seen TIMESTAMP_NTZ NOT NULL, ORDERED BY (seen)) FROM FILES reading;
        CREATE SINK near USING parquet LOCATION 'near';
        INSERT INTO near SELECT sensor, COUNT(*) OVER (ORDER BY seen
        RANGE BETWEEN INTERVAL 59 MINUTES PRECEDING AND CURRENT ROW) AS n FROM reading;"""
    script = Script(zoned, tmp_path, text)
    times = ("01:40:00", "02:30:00", "03:30:00", "03:31:00", "04:00:00")
    for number, time in enumerate(times):
        script.slice(reading=[{"sensor": number, "seen": f"2024-03-10 {time}"}])
    script.run_to_end()
    assert [(row["sensor"], row["n"]) for row in script.rows("near")] == [(0, 1), (1, 2), (2, 1), (3, 2), (4, 3)]
    assert script.progress[-2].state["frame: out"] == 2
