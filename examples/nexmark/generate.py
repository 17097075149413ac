"""Writes the streams and the table that the queries read into `data/`: so many events in so many slices.

python examples/nexmark/generate.py [EVENTS [SLICES [EVENTS_PER_SECOND]]]
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from caesura.spark.session import running
from caesura.testing import write_nexmark_streams

DATA = Path(__file__).parent / "data"


def main(events: int = 100_000, slices: int = 10, per_second: float = 1_000) -> None:
    shutil.rmtree(DATA, ignore_errors=True)
    with running() as spark:
        written = write_nexmark_streams(spark, DATA, events, slices, per_second=per_second)
    print(f"{written.persons:,} persons, {written.auctions:,} auctions, {written.bids:,} bids")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
