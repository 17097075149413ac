"""The streams that every system joins, and the query, word for word the same for all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.baselines.flink_input import write_csv
from bench.session import spark_session
from caesura.testing import AuctionStreams, write_auction_streams

QUERY = """
SELECT a.id, a.category, b.price, b.bidder
FROM auction AS a JOIN bid AS b ON a.id = b.auction
"""
WARM_UP_SLICES = 4
WARM_UP_SECONDS = 120
"""Every system runs the warm-up input again and again for so long, in the JVM that is measured then: compilers
need time, whatever a system makes of it."""


def warm_up(run: Callable[[], object], seconds: float = WARM_UP_SECONDS, at_least: int = 0) -> None:
    """Run it for so many seconds, and so many times even if they take longer."""
    end = perf_counter() + seconds
    runs = 0
    while runs < at_least or perf_counter() < end:
        run()
        runs += 1


@dataclass(frozen=True)
class Workload:
    directory: Path
    streams: AuctionStreams
    warm_up: AuctionStreams  # slices of the same size
    memory: str  # of that JVM's heap, e.g. 8g
    seconds: int = WARM_UP_SECONDS
    """Of warming up."""

    def csv(self, streams: AuctionStreams) -> Path:
        """The same rows as Flink can read them."""
        return self.directory / "csv" / streams.directory.name

    def scratch(self) -> Path:
        """An empty directory for one run's checkpoint."""
        scratch = self.directory / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        return scratch


def prepare(directory: Path, events: int, slices: int, memory: str, seconds: int = WARM_UP_SECONDS) -> Workload:
    """Write the streams anew: they are cheap, and what an older generator wrote is not compared by mistake."""
    shutil.rmtree(directory, ignore_errors=True)
    with spark_session(memory) as spark:
        streams = write_auction_streams(spark, directory / "streams", events, slices)
        warm_up = write_auction_streams(
            spark, directory / "warm_up", events * WARM_UP_SLICES // slices, WARM_UP_SLICES, seed=1
        )
        workload = Workload(directory, streams, warm_up, memory, seconds)
        for written in (streams, warm_up):
            write_csv(spark, written, workload.csv(written))
    return workload
