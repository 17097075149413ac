"""Caesura on the auction streams, on the same session as the other Spark systems."""

from __future__ import annotations

from time import perf_counter

import caesura
from bench.result import Result
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
    progress: list[caesura.Progress] = []
    start = perf_counter()
    query = session.sql(text).start(
        format="noop", checkpoint=str(workload.scratch()), until_end=True, on_progress=progress.append
    )
    query.awaitTermination()
    seconds = perf_counter() - start
    slices = [each for each in progress if each.rows_in]
    return Result(
        name="Caesura",
        events=streams.events,
        seconds=seconds,
        rows_out=sum(each.rows_out for each in progress),
        state_rows=progress[-1].state_rows,
        peak_state_rows=max(each.state_rows for each in progress),
        slice_seconds=tuple(each.seconds for each in slices),
    )
