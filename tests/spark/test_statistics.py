"""A run measures the traffic of its streams, and a later one chooses its join plans by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.planning.statistics import Statistics
from caesura.testing.script import Script

TEXT = """
CREATE STREAM orders (id BIGINT, PUNCTUATED BY (id)) FROM FILES orders;
CREATE STREAM shipment (order_id BIGINT, parcel BIGINT, at TIMESTAMP, PUNCTUATED BY (order_id),
  PUNCTUATED BY (parcel), ORDERED BY (at WITHIN INTERVAL 5 SECONDS)) FROM FILES shipment;
CREATE STREAM delivery (parcel BIGINT, PUNCTUATED BY (parcel)) FROM FILES delivery;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT o.id, s.parcel FROM orders AS o JOIN shipment AS s ON o.id = s.order_id
JOIN delivery AS d ON s.parcel = d.parcel;
"""
ORDERED, SHIPPED, DELIVERED = 2, 40, 20
"""Rows per slice, which is a second of the streams' time."""


def add_slice(script: Script, number: int) -> None:
    """New values, and none is closed."""
    now = range(number * SHIPPED, (number + 1) * SHIPPED)
    at = [f"2026-01-01 00:00:{n / SHIPPED:06.3f}" for n in now]
    script.slice(
        orders=[{"id": n} for n in now[:ORDERED]],
        shipment=[{"order_id": n, "parcel": n, "at": t} for n, t in zip(now, at, strict=True)],
        delivery=[{"parcel": n} for n in now[:DELIVERED]],
    )


def arrangements(checkpoint: Path) -> object:
    return json.loads((checkpoint / "pipeline.json").read_text())["content"]["queries"][0]["arrangements"]


def test_a_run_measures_and_a_later_one_chooses_by_it(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, TEXT, every_rule=True)
    for number in range(2):
        add_slice(script, number)
        script.run()
    measured = script.checkpoint / "statistics.json"
    found = script.prepared.read_statistics(measured)
    assert found == script.progress[-1].statistics
    rates = {name: each.rate for name, each in found.streams.items()}
    assert rates == pytest.approx({"orders": ORDERED, "shipment": SHIPPED, "delivery": DELIVERED}, rel=0.05)
    values = {(name, column): n for name, each in found.streams.items() for column, n in each.distinct}
    mean = 1.5  # of one slice and two
    assert values == pytest.approx(
        {
            ("orders", "id"): mean * ORDERED,
            ("shipment", "order_id"): mean * SHIPPED,
            ("shipment", "parcel"): mean * SHIPPED,
            ("delivery", "parcel"): mean * DELIVERED,
        },
        rel=0.1,
    )
    for checkpoint in (other := tmp_path / "other", script.checkpoint):
        script.prepared.start(checkpoint=str(checkpoint), statistics=measured).stop()
    assert arrangements(other) == [{"tree": [[0, 1], 2], "demand": False}]
    assert arrangements(script.checkpoint) == [None]  # chosen when nothing was known


def test_a_date_that_is_too_far_off_for_a_time_gives_no_rate_and_does_no_harm(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = """
    CREATE STREAM s (day DATE, ORDERED BY (day)) FROM FILES s;
    CREATE SINK out USING parquet LOCATION 'out';
    INSERT INTO out SELECT CAST(day AS STRING) AS day FROM s;
    """
    script = Script(spark, tmp_path, text)
    script.slice(s=[{"day": "2026-01-01"}, {"day": "+300000-01-01"}])
    script.run()
    assert [row["day"] for row in script.rows("out")] == ["+300000-01-01", "2026-01-01"]
    assert script.progress[-1].statistics == Statistics()
