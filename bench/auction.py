"""auction ⋈ bid, continuously: Caesura against Spark's stream-stream join, Flink SQL and one batch join.

    python -m bench.auction --events 8000000 --slices 8 --rounds 3

Every run is a process of its own on the same two cores and with the same heap, and the systems take turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.baselines.flink import flink_version
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.result import WARM_AFTER, Result, median
from bench.systems import BY_DEFAULT, SYSTEMS
from bench.targets import small_targets, target_table, targets
from bench.workload import QUERY, WARM_UP_SECONDS, WARM_UP_SLICES, Workload, prepare

SMALL_SLICE, SMALL_SLICES = 2_000, 40
SMALL_SYSTEMS = ("caesura", "spark")
DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "auction"

HOW = f"""\
- Rows are auctions and bids, without punctuations; all systems gave the same number of rows.
- Seconds are of the whole input, after a warm-up in the same JVM: {WARM_UP_SLICES} slices of the same kind, again
  and again for {WARM_UP_SECONDS} s, for every system; the batch join warms up on its own input. Of several rounds
  the one with the median time is shown.
- "ratio" is how many times slower a system is than the first. "most" is the most state after any slice.
- "last / warm" is the time of the last slice over that of slice {WARM_AFTER + 1}, the first to count as warm.
- Flink reads csv with the needed columns only (its PyPI package has no parquet), knows that the auction's id is
  its key, takes no checkpoints, and its time is the job's own, without planning and start. "reading" is what a job
  takes that only reads the csv. Its state rows are all rows, by construction.
- Caesura and Spark read the same parquet files, one per stream and slice, and commit every slice.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.auction", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=8_000_000)
    parser.add_argument("--slices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=BY_DEFAULT, help="default: %(default)s")
    return parser.parse_args()


def measure(workload: Workload, systems: Sequence[str], rounds: int) -> dict[str, list[Result]]:
    results: dict[str, list[Result]] = {name: [] for name in systems}
    for number in range(rounds):
        for name in systems:
            print(f"round {number + 1}: {name} …", flush=True)
            result = isolated(SYSTEMS[name], workload)
            if result.rows_out != workload.streams.bids:  # every bid has its auction
                sys.exit(f"{result.name} gave {result.rows_out:,} rows for {workload.streams.bids:,} bids")
            results[name].append(result)
    return results


def result_table(results: Mapping[str, Result]) -> Table:
    first = next(iter(results.values()))
    return Table(
        ("system", "rows/s", "ratio", "seconds", "reading", "state rows", "most", "state MB", "last / warm"),
        tuple(
            (
                result.name,
                f"{result.rate:,.0f}",
                f"{first.rate / result.rate:.2f}",
                f"{result.seconds:.1f}",
                "" if result.source_seconds is None else f"{result.source_seconds:.1f}",
                f"{result.state_rows:,}",
                f"{result.peak_state_rows:,}",
                "" if result.state_bytes is None else f"{result.state_bytes / 1e6:,.0f}",
                "" if result.slowdown is None else f"{result.slowdown:.2f}",
            )
            for result in results.values()
        ),
    )


def slice_table(results: Mapping[str, Result]) -> Table:
    sliced = [result for result in results.values() if result.slice_seconds]
    slices = max((len(result.slice_seconds) for result in sliced), default=0)
    return Table(
        ("seconds of slice", *(str(number + 1) for number in range(slices))),
        tuple((result.name, *(f"{seconds:.1f}" for seconds in result.slice_seconds)) for result in sliced),
    )


def small_table(results: Mapping[str, Result]) -> Table:
    return Table(
        (f"slices of {SMALL_SLICE:,} rows", "seconds a slice", "slices", "state rows"),
        tuple(
            (
                result.name,
                f"{result.seconds_per_slice:.2f}",
                str(len(result.slice_seconds)),
                f"{result.state_rows:,}",
            )
            for result in results.values()
        ),
    )


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.auction --events {options.events} --slices {options.slices} --rounds {options.rounds}"
        f" --memory {options.memory} --systems {' '.join(options.systems)}",
        *flink_version(),
    )
    print("writing the streams …", flush=True)
    large = isolated(prepare, DIRECTORY / "large", options.events, options.slices, options.memory)
    rounds = measure(large, options.systems, options.rounds)
    results = {name: median(runs) for name, runs in rounds.items()}
    tables = [result_table(results), slice_table(results)]
    met = targets(results)
    small_rounds: dict[str, list[Result]] = {}
    if {*SMALL_SYSTEMS} <= {*options.systems}:
        small = isolated(prepare, DIRECTORY / "small", SMALL_SLICE * SMALL_SLICES, SMALL_SLICES, options.memory)
        small_rounds = measure(small, SMALL_SYSTEMS, options.rounds)
        small_results = {name: median(runs) for name, runs in small_rounds.items()}
        tables.append(small_table(small_results))
        met += small_targets(small_results)
    tables.append(target_table(met))

    parts: list[str | Table] = ["# auction ⋈ bid", f"```sql{QUERY}```", facts(about), *tables, HOW]
    data = {"about": about, "large": _as_data(rounds), "small": _as_data(small_rounds)}
    return publish("auction", parts, met, data)


def _as_data(rounds: Mapping[str, list[Result]]) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(run) for run in runs] for name, runs in rounds.items()}


if __name__ == "__main__":
    sys.exit(main())
