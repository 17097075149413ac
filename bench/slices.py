"""What a slice costs: small ones, many queries, large ones, and a large state.

    python -m bench.slices --parts small queries large state --rounds 3

Small and large slices of the auction join against Spark's stream-stream join, Flink SQL and one batch join;
pipelines of one to sixteen queries over the same two streams against as many streaming queries of Spark; a state
of ten million rows, of which little changes in a slice. Systems take turns.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

import caesura
from bench import growth
from bench.auction import SMALL_SLICE, SMALL_SLICES
from bench.baselines.flink import flink_version
from bench.baselines.spark_queries import run_queries
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.result import Result
from bench.result import median as median_run
from bench.run import run_to_end
from bench.session import spark_session
from bench.systems import SYSTEMS
from bench.targets import Target, at_least, at_most, target_table
from bench.workload import WARM_UP_SECONDS, Workload, prepare, warm_up
from caesura.testing import AuctionStreams, write_auction_streams

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "slices"
PARTS = ("small", "queries", "large", "state")
NUMBERS = (1, 2, 4, 8, 16)
"""Of queries in a pipeline."""
QUERY_SLICES, FIRST = 12, 3
"""Slices of a pipeline of many queries, and those that do not count."""
LARGE = {"1 M": (1_000_000, 8), "4 M": (4_000_000, 4)}
"""Rows of a slice, and slices."""
LARGE_SYSTEMS = ("caesura", "spark", "flink", "batch")
STATE = 10_000_000
HOW = f"""\
- Small: seconds of the whole input over its slices, after warming up for as many seconds as the command says, the
  median of the rounds; rows are only counted.
- Queries: each joins auctions and bids, asks for another least price, and groups by auction. All pipelines take
  turns in one JVM, after a warm-up of all; the median slice of {QUERY_SLICES}, without the first {FIRST}. Spark
  runs as many streaming queries of the same SQL side by side; its time is that of all of them over the slices.
- Large: as `make bench` has it, each run in a process of its own.
- State: a stream holds so many rows; a slice brings {growth.CHANGED:,} and closes as many.
"""


def query(number: int) -> str:
    return f"""SELECT a.id, a.category, COUNT(*) AS bids, MAX(b.price) AS best
    FROM auction AS a JOIN bid AS b ON a.id = b.auction WHERE b.price > {number} GROUP BY a.id, a.category"""


def pipeline(streams: AuctionStreams, queries: int) -> str:
    declared = f"""
    CREATE STREAM auction (
      id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, UNIQUE (id)
    ) USING parquet LOCATION '{streams.auction}' OPTIONS (maxFilesPerTrigger 1);
    CREATE STREAM bid (
      auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction)
    ) USING parquet LOCATION '{streams.bid}' OPTIONS (maxFilesPerTrigger 1);"""
    return declared + ";\n".join(map(query, range(queries))) + ";"


@dataclass(frozen=True)
class Found:
    small: Mapping[str, Result] = field(default_factory=dict)
    queries: Mapping[int, float] = field(default_factory=dict)
    """Seconds of a slice, by the number of queries."""
    spark_queries: float | None = None
    large: Mapping[str, Mapping[str, Result]] = field(default_factory=dict)
    state: Sequence[float] = ()
    """Seconds of the slices."""


def joined(workload: Workload, systems: Sequence[str], rounds: int) -> dict[str, Result]:
    runs: dict[str, list[Result]] = {name: [] for name in systems}
    for number in range(rounds):
        for name in systems:
            print(f"round {number + 1}: {name} …", flush=True)
            runs[name].append(isolated(SYSTEMS[name], workload))
    return {name: median_run(several) for name, several in runs.items()}


def many(memory: str, seconds: int, rounds: int) -> tuple[dict[int, float], float]:
    """The time of a slice of pipelines of many queries, and that of as many streaming queries of Spark."""
    shutil.rmtree(DIRECTORY / "queries", ignore_errors=True)
    with spark_session(memory) as spark:
        streams = write_auction_streams(spark, DIRECTORY / "queries", SMALL_SLICE * QUERY_SLICES, QUERY_SLICES)
        session = caesura.Session(spark)
        systems: dict[int, Callable[[], float]] = {
            number: lambda number=number: _ours(session, streams, number)  # type: ignore[misc]
            for number in NUMBERS
        }
        systems[0] = lambda: _sparks(spark, streams)
        found: dict[int, list[float]] = {number: [] for number in systems}
        warm_up(lambda: [run() for run in systems.values()], seconds)
        for _ in range(rounds):
            for number, run in systems.items():
                found[number].append(run())
                print(f"{number} queries: {found[number][-1]:.2f} s", flush=True)
        medians = {number: median(several) for number, several in found.items()}
        return {number: medians[number] for number in NUMBERS}, medians[0]


def _ours(session: caesura.Session, streams: AuctionStreams, queries: int) -> float:
    run = run_to_end(session, pipeline(streams, queries), DIRECTORY / "scratch")
    return median(run.slice_seconds[FIRST:])


def _sparks(spark: SparkSession, streams: AuctionStreams) -> float:
    scratch = DIRECTORY / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    start = perf_counter()
    run_queries(spark, streams, [query(number) for number in range(NUMBERS[-1])], scratch)
    return (perf_counter() - start) / QUERY_SLICES


def held(memory: str) -> tuple[float, ...]:
    shutil.rmtree(growth.DIRECTORY, ignore_errors=True)
    with spark_session(memory) as spark:
        session = caesura.Session(spark)
        small, large = growth.write_held(spark, STATE // 10), growth.write_held(spark, STATE)
        for directory in (small, large):
            run_to_end(session, growth.held(directory), DIRECTORY / "scratch")
        run = run_to_end(session, growth.held(large), DIRECTORY / "scratch")
        return run.slice_seconds[growth.WARM :]


def targets(found: Found) -> list[Target]:
    met: list[Target] = []
    if found.small:
        ours, sparks = found.small["caesura"], found.small["spark"]
        met.append(at_most("small slice / Spark's", ours.seconds_per_slice / sparks.seconds_per_slice, 1))
    if found.queries and found.spark_queries is not None:
        first, most = found.queries[1], found.queries[NUMBERS[-1]]
        met.append(at_most("each further query / the first", (most - first) / (NUMBERS[-1] - 1) / first, 0.35))
        met.append(at_most("16 queries / 16 streaming queries of Spark", most / found.spark_queries, 0.5))
    for (size, results), limit in zip(found.large.items(), (5, 3), strict=False):
        ratio = results["caesura"].seconds / results["batch"].seconds
        met.append(at_most(f"slices of {size}: time / batch join", ratio, limit))
    for other, least in (("flink", 4), ("spark", 8)):
        if found.large:
            best = max(each["caesura"].rate / each[other].rate for each in found.large.values())
            met.append(at_least(f"rows/s / {other}, the better of two sizes", best, least))
    if found.state:
        met.append(at_most("the longest slice / the median", max(found.state) / median(found.state), 2))
    return met


def tables(found: Found) -> list[Table]:
    shown: list[Table] = []
    if found.small:
        rows = ((each.name, f"{each.seconds_per_slice:.3f}") for each in found.small.values())
        shown.append(Table((f"slices of {SMALL_SLICE:,} rows", "seconds a slice"), tuple(rows)))
    if found.queries and found.spark_queries is not None:
        several = [(f"Caesura, {number}", f"{seconds:.2f}") for number, seconds in found.queries.items()]
        several.append((f"Spark, {NUMBERS[-1]}", f"{found.spark_queries:.2f}"))
        shown.append(Table((f"queries, slices of {SMALL_SLICE:,} rows", "seconds a slice"), tuple(several)))
    for size, results in found.large.items():
        each = ((one.name, f"{one.rate:,.0f}", f"{one.seconds:.1f}") for one in results.values())
        shown.append(Table((f"slices of {size} rows", "rows/s", "seconds"), tuple(each)))
    if found.state:
        figures = (f"{STATE:,}", f"{median(found.state):.2f}", f"{max(found.state):.2f}")
        shown.append(Table(("rows of state", "the median slice, s", "the longest, s"), (figures,)))
    return [*shown, target_table(targets(found))]


def measure(options: argparse.Namespace) -> Found:
    found, how = Found(), (options.memory, options.warm_up)
    if "small" in options.parts:
        streams = isolated(prepare, DIRECTORY / "small", SMALL_SLICE * SMALL_SLICES, SMALL_SLICES, *how)
        found = Found(small=joined(streams, ("caesura", "spark"), options.rounds))
    queries, sparks = isolated(many, *how, options.rounds) if "queries" in options.parts else ({}, None)
    large: dict[str, dict[str, Result]] = {}
    for size, (rows, slices) in LARGE.items() if "large" in options.parts else ():
        streams = isolated(prepare, DIRECTORY / "large", rows * slices, slices, *how)
        large[size] = joined(streams, LARGE_SYSTEMS, options.rounds)
    state = isolated(held, options.memory) if "state" in options.parts else ()
    return Found(found.small, queries, sparks, large, state)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.slices", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=WARM_UP_SECONDS, help="seconds, of each system")
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    options = parser.parse_args()
    about = circumstances(
        f"python -m bench.slices --parts {' '.join(options.parts)} --rounds {options.rounds}"
        f" --warm-up {options.warm_up} --memory {options.memory}",
        *flink_version(),
    )
    found = measure(options)
    data = {
        "about": about,
        "small": {name: asdict(each) for name, each in found.small.items()},
        "queries": dict(found.queries),
        "queries of Spark": found.spark_queries,
        "large": {size: {name: asdict(each) for name, each in of.items()} for size, of in found.large.items()},
        "state": found.state,
    }
    return publish("slices", ["# What a slice costs", facts(about), *tables(found), HOW], targets(found), data)


if __name__ == "__main__":
    sys.exit(main())
