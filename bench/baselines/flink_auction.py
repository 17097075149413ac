"""Flink SQL on the auction streams."""

from __future__ import annotations

from bench.baselines.flink import FlinkQuery
from bench.result import Result
from bench.workload import QUERY, Workload

JOIN = FlinkQuery(
    sources={
        "auction": "id BIGINT, category INT, PRIMARY KEY (id) NOT ENFORCED",
        "bid": "auction BIGINT, price DOUBLE, bidder BIGINT",
    },
    query=QUERY,
)


def flink_join(workload: Workload) -> Result:
    measured = JOIN.run(
        workload.csv(workload.streams),
        workload.csv(workload.warm_up),
        memory=workload.memory,
        warm_up_seconds=workload.seconds,
    )
    return Result(
        name="Flink SQL join",
        events=workload.streams.events,
        seconds=measured.seconds,
        rows_out=measured.rows_out,
        state_rows=workload.streams.events,  # by construction: a regular join keeps every row
        slice_seconds=(),
        peak_state_rows=workload.streams.events,
        source_seconds=measured.source_seconds,
    )
