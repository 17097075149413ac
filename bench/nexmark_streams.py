"""NEXMark's streams as every system is given them, and what a system answers."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.baselines.nexmark import streams_of
from bench.result import Result
from bench.session import spark_session
from bench.workload import WARM_UP_SLICES
from caesura.testing.nexmark import write_nexmark_streams

STREAMS, WARM_UP, SAMPLE = "streams", "warm_up", "sample"
"""Their folders."""
SAMPLE_EVENTS = 2_000
Results = Literal["final", "updated", "retracted"]
"""How results come out: once and for all; as newer rows of the same key; or taken back by rows that say so."""


@dataclass(frozen=True)
class Answer:
    result: Result
    results: Results

    @property
    def seconds(self) -> float:
        return self.result.seconds


@dataclass(frozen=True)
class Refused:
    """A system has no plan for a query."""

    reason: str


@dataclass(frozen=True)
class Workload:
    directory: Path
    rows: Mapping[str, int]
    """Of each stream, without punctuations."""
    memory: str
    seconds: int
    """Of warming up."""

    @property
    def streams(self) -> Path:
        return self.directory / STREAMS

    @property
    def warm_up(self) -> Path:
        """Slices of the same size."""
        return self.directory / WARM_UP

    @property
    def folders(self) -> tuple[Path, Path, Path]:
        """With the sample, whose results show how they come out."""
        return self.streams, self.warm_up, self.directory / SAMPLE

    @property
    def written(self) -> Path:
        """Where the results of a query go that writes files."""
        return self.directory / "written"

    def events(self, query: str) -> int:
        """Of the streams that it reads."""
        return sum(self.rows[stream] for stream in streams_of(query))

    def scratch(self) -> Path:
        """An empty directory for one run's checkpoint; nothing is written yet either."""
        scratch = self.directory / "scratch"
        for folder in (scratch, self.written):
            shutil.rmtree(folder, ignore_errors=True)
        scratch.mkdir()
        return scratch


def prepare(directory: Path, events: int, slices: int, memory: str, seconds: int) -> Workload:
    shutil.rmtree(directory, ignore_errors=True)
    warm_up = events * WARM_UP_SLICES // slices
    with spark_session(memory) as spark:
        written = write_nexmark_streams(spark, directory / STREAMS, events, slices)
        write_nexmark_streams(spark, directory / WARM_UP, warm_up, WARM_UP_SLICES, seed=1)
        write_nexmark_streams(spark, directory / SAMPLE, SAMPLE_EVENTS, 1, seed=2)
    rows = {"person": written.persons, "auction": written.auctions, "bid": written.bids}
    return Workload(directory, rows, memory, seconds)
