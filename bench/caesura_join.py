"""Caesura on the auction streams, on the same session as the other Spark systems."""

from __future__ import annotations

import caesura
from bench.result import Result
from bench.run import by_caesura, run_to_end
from bench.workload import QUERY, Workload
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
    def run(session: caesura.Session, streams: AuctionStreams) -> Result:
        text = _PIPELINE.format(auction=streams.auction, bid=streams.bid, query=QUERY)
        run = run_to_end(session, text, workload.scratch())
        return run.result(streams.events, run.progress[-1])

    return by_caesura(run, workload.warm_up, workload.streams, workload.memory, workload.seconds)
