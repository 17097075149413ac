"""Caesura on the auction streams, on the same session as the other Spark systems."""

from __future__ import annotations

import caesura
from bench.result import Result
from bench.run import run_to_end
from bench.session import spark_session
from bench.workload import QUERY, Workload, warm_up
from caesura.testing import AuctionStreams

_PIPELINE = """
CREATE STREAM auction (
  id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)
) USING parquet LOCATION '{auction}' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)
) USING parquet LOCATION '{bid}' OPTIONS (maxFilesPerTrigger 1);
{query};
"""


def caesura_join(workload: Workload) -> Result:
    with spark_session(workload.memory) as spark:
        session = caesura.Session(spark)
        warm_up(lambda: _run(session, workload, workload.warm_up))
        return _run(session, workload, workload.streams)


def _run(session: caesura.Session, workload: Workload, streams: AuctionStreams) -> Result:
    text = _PIPELINE.format(auction=streams.auction, bid=streams.bid, query=QUERY)
    run = run_to_end(session, text, workload.scratch())
    return Result(
        name="Caesura",
        events=streams.events,
        seconds=run.seconds,
        rows_out=run.rows_out,
        state_rows=run.progress[-1].state_rows,
        peak_state_rows=max(each.state_rows for each in run.progress),
        slice_seconds=tuple(each.seconds for each in run.slices),
    )
