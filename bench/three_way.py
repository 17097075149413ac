"""person ⋈ auction ⋈ bid, a three-way join on different keys: Caesura against Flink SQL.

    python -m bench.three_way --events 3000000 --slices 3 --rounds 3

Every run is a process of its own on the same two cores and with the same heap, and the systems take turns.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import caesura
from bench.baselines.flink import FlinkQuery, flink_version
from bench.market import BIDS, COLUMNS, EVENTS_PER_BLOCK, QUERY, Market, write_market
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.result import Result, median
from bench.run import by_caesura, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_least, at_most, target_table
from bench.workload import WARM_UP_SLICES

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "three_way"
KEYS = {"person": "id", "auction": "id"}
"""Flink is told: it keeps one row per key then, and looks it up sooner."""
FLINK = FlinkQuery(
    sources={
        name: f"{columns}, PRIMARY KEY ({KEYS[name]}) NOT ENFORCED" if name in KEYS else columns
        for name, columns in COLUMNS.items()
    },
    query=QUERY,
)

HOW = f"""\
- Rows are persons, auctions and bids ({BIDS} of {EVENTS_PER_BLOCK} events), without punctuations; both systems
  gave the same number of rows.
- Seconds are of the whole input, after a warm-up in the same JVM of so many seconds as the command says:
  {WARM_UP_SLICES} slices of the same kind again and again. Of several rounds the one with the median time is
  shown.
- Flink reads csv (its PyPI package has no parquet), knows the keys of persons and auctions, takes no checkpoints,
  and its time is the job's own, without planning and start. "reading" is what a job takes that only reads.
- Flink's state rows are by construction: all rows, and once more each pair of a bid and an auction, which waits in
  the second of its two joins. Caesura's are those after the last slice, before the streams end.
- Caesura reads parquet, one file per stream and slice, and commits every slice.
"""


@dataclass(frozen=True)
class Workload:
    streams: Market
    warm_up: Market
    memory: str
    seconds: int
    """Of warming up."""


def prepare(events: int, slices: int, memory: str, seconds: int) -> Workload:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    with spark_session(memory) as spark:
        streams = write_market(spark, DIRECTORY / "streams", events, slices)
        warm_up = write_market(
            spark, DIRECTORY / "warm_up", events * WARM_UP_SLICES // slices, WARM_UP_SLICES, seed=1
        )
    return Workload(streams, warm_up, memory, seconds)


def caesura_join(workload: Workload) -> Result:
    def run(session: caesura.Session, market: Market) -> Result:
        run = run_to_end(session, market.pipeline, DIRECTORY / "scratch")
        return run.result(market.events, run.slices[-1])

    return by_caesura(run, workload.warm_up, workload.streams, workload.memory, workload.seconds)


def flink_join(workload: Workload) -> Result:
    streams = workload.streams
    measured = FLINK.run(
        streams.csv, workload.warm_up.csv, memory=workload.memory, warm_up_seconds=workload.seconds
    )
    return Result(
        name="Flink SQL",
        events=streams.events,
        seconds=measured.seconds,
        rows_out=measured.rows_out,
        state_rows=streams.events + streams.bids,
        peak_state_rows=streams.events + streams.bids,
        slice_seconds=(),
        source_seconds=measured.source_seconds,
    )


def targets(caesura: Result, flink: Result) -> list[Target]:
    return [
        at_least("rows/s / Flink SQL", caesura.rate / flink.rate, 2),
        at_most(
            "state rows before the end of the streams / Flink SQL", caesura.state_rows / flink.state_rows, 0.05
        ),
    ]


def result_table(results: tuple[Result, Result]) -> Table:
    return Table(
        ("system", "rows/s", "seconds", "reading", "state rows", "rows out"),
        tuple(
            (
                result.name,
                f"{result.rate:,.0f}",
                f"{result.seconds:.1f}",
                "" if result.source_seconds is None else f"{result.source_seconds:.1f}",
                f"{result.state_rows:,}",
                f"{result.rows_out:,}",
            )
            for result in results
        ),
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.three_way", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=3_000_000)
    parser.add_argument("--slices", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=200, help="seconds, of each system (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.three_way --events {options.events} --slices {options.slices} --rounds {options.rounds}"
        f" --warm-up {options.warm_up} --memory {options.memory}",
        *flink_version(),
    )
    print("writing the streams …", flush=True)
    workload = isolated(prepare, options.events, options.slices, options.memory, options.warm_up)
    runs: dict[str, list[Result]] = {"Caesura": [], "Flink SQL": []}
    for number in range(options.rounds):
        for system in (caesura_join, flink_join):
            print(f"round {number + 1}: {system.__name__} …", flush=True)
            result = isolated(system, workload)
            if result.rows_out != workload.streams.bids:
                sys.exit(f"{result.name} gave {result.rows_out:,} rows for {workload.streams.bids:,} bids")
            runs[result.name].append(result)
    ours, theirs = (median(each) for each in runs.values())
    met = targets(ours, theirs)
    parts: list[str | Table] = [
        "# person ⋈ auction ⋈ bid",
        f"```sql{QUERY}```",
        facts(about),
        result_table((ours, theirs)),
        target_table(met),
        HOW,
    ]
    data = {"about": about, "runs": {name: [asdict(run) for run in each] for name, each in runs.items()}}
    return publish("three-way", parts, met, data)


if __name__ == "__main__":
    sys.exit(main())
