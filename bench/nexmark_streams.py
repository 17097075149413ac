"""NEXMark's streams as every system is given them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.baselines.nexmark import streams_of
from bench.session import spark_session
from caesura.testing.nexmark import AUCTIONS, EPOCH, PERSONS, STREAMS, write_nexmark_streams

TIMED, WARM_UP, SAMPLE = "streams", "warm_up", "sample"
"""Their folders."""
WARM_UP_SLICES = 2
"""The second finds a state."""
WARM_UP_RUNS = 2
"""At least, however long one takes; one in later rounds."""
SAMPLE_EVENTS = 2_000
SMALL, SMALL_SLICES = 100_000, 8
"""Events of a small slice, and how many slices there are of them."""


@dataclass(frozen=True)
class Workload:
    directory: Path
    slices: int
    rows: Mapping[str, int]
    """Of each stream, without punctuations."""
    memory: str
    seconds: int
    """Of warming up for a query."""
    runs: int = WARM_UP_RUNS
    """At least, of warming up."""

    @property
    def streams(self) -> Path:
        return self.directory / TIMED

    @property
    def warm_up(self) -> Path:
        """Slices of the same size."""
        return self.directory / WARM_UP

    @property
    def sample(self) -> Path:
        """Its results show how they come out."""
        return self.directory / SAMPLE

    @property
    def written(self) -> Path:
        """Where the results of a query go that writes files."""
        return self.directory / "written"

    def again(self) -> Workload:
        """For systems that have run it before."""
        return replace(self, seconds=0, runs=1)

    def events(self, query: str) -> int:
        """Of the streams that it reads."""
        return sum(self.rows[stream] for stream in streams_of(query))

    def scratch(self, system: str) -> Path:
        """An empty directory for one run's checkpoint; nothing is written yet either. Systems that wait for their
        turn may still clear up in theirs."""
        scratch = self.directory / "scratch" / system
        for folder in (scratch, self.written):
            shutil.rmtree(folder, ignore_errors=True)
        scratch.mkdir(parents=True)
        return scratch


@dataclass(frozen=True)
class Workloads:
    """Queries that read few of the events, persons and auctions, read them of a longer stream: all read about as
    many rows, and none is timed for a blink."""

    whole: Workload
    longer: Workload
    small: Workload
    """All events of a shorter stream, in small slices."""

    def of(self, query: str) -> Workload:
        return self.whole if "bid" in streams_of(query) else self.longer


def prepare(directory: Path, events: int, slices: int, memory: str, seconds: int) -> Workloads:
    shutil.rmtree(directory, ignore_errors=True)
    few = tuple(stream for stream in STREAMS if stream != "bid")
    return Workloads(
        _prepare(directory / "whole", events, slices, memory, seconds, STREAMS),
        _prepare(directory / "longer", events * EPOCH // (PERSONS + AUCTIONS), slices, memory, seconds, few),
        _prepare(directory / "small", SMALL * SMALL_SLICES, SMALL_SLICES, memory, seconds, STREAMS),
    )


def _prepare(
    directory: Path, events: int, slices: int, memory: str, seconds: int, streams: tuple[str, ...]
) -> Workload:
    warm_up = events * WARM_UP_SLICES // slices
    with spark_session(memory) as spark:
        written = write_nexmark_streams(spark, directory / TIMED, events, slices, streams=streams)
        write_nexmark_streams(spark, directory / WARM_UP, warm_up, WARM_UP_SLICES, seed=1, streams=streams)
        write_nexmark_streams(spark, directory / SAMPLE, SAMPLE_EVENTS, 1, seed=2, streams=streams)
    rows = {"person": written.persons, "auction": written.auctions, "bid": written.bids}
    return Workload(directory, slices, rows, memory, seconds)
