"""DISTINCT, GROUP BY and EXCEPT over many slices: does a slice take longer the more came before it?

    python -m bench.algebra --slices 100 --rows 100000

Every query is run in a process of its own. Keys open and close all the time, so the state has one size throughout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import caesura
from bench.keyed import ROWS_PER_KEY, KeyedStream, write_keyed_stream
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.process import isolated
from bench.report import publish
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_most, target_table
from bench.workload import warm_up

QUERIES = {
    "DISTINCT": "SELECT DISTINCT key, value FROM one",
    "GROUP BY": "SELECT key, COUNT(*) AS n, SUM(value) AS total, MAX(value) AS most FROM one GROUP BY key",
    "EXCEPT": "SELECT key, value FROM one EXCEPT SELECT key, value FROM other",
}
STREAMS = ("one", "other")
FIRST, LAST = slice(10, 20), slice(-10, None)
"""The slices that are compared: the first ten are still finding their speed."""
WARM_UP_SLICES = 8
DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "algebra"

HOW = """\
- Rows are without punctuations; in the slices of EXCEPT half of them are of each stream. A key has eight rows on
  average, of which about a third repeat another. It is closed when as many keys have come after it as a slice
  brings. Every query gave as many rows as the same query in one batch.
- Seconds of a slice are from one commit to the next, in a JVM that is warm from slices of the same kind.
- "ratio" is the median of the last ten slices over that of slices 11 to 20.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.algebra", description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000, help="to a slice (default: %(default)s)")
    parser.add_argument("--warm-up", type=int, default=60, help="seconds (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    return parser.parse_args()


def measure(name: str, options: argparse.Namespace) -> Run:
    with spark_session(options.memory) as spark:
        session = caesura.Session(spark)

        def written(folder: str, slices: int) -> list[KeyedStream]:
            """The query's streams, which share the rows of a slice."""
            read = [each for each in STREAMS if each in QUERIES[name].split()]
            rows = options.rows // len(read)
            return [
                write_keyed_stream(spark, DIRECTORY / folder / each, rows, slices, rows // ROWS_PER_KEY, seed)
                for seed, each in enumerate(read)
            ]

        def run(streams: list[KeyedStream]) -> Run:
            pipeline = "".join(stream.declared for stream in streams) + QUERIES[name]
            return run_to_end(session, pipeline, DIRECTORY / "scratch")

        streams, short = written("streams", options.slices), written("warm_up", WARM_UP_SLICES)
        for stream in streams:
            stream.rows(spark).createOrReplaceTempView(stream.directory.name)
        expected = spark.sql(QUERIES[name]).count()
        warm_up(lambda: run(short), options.warm_up)
        found = run(streams)
        if found.rows_out != expected:
            sys.exit(f"{name} gave {found.rows_out:,} rows instead of {expected:,}")
        return found


def ratio(run: Run) -> float:
    return median(run.slice_seconds[LAST]) / median(run.slice_seconds[FIRST])


def result_table(runs: Mapping[str, Run]) -> Table:
    return Table(
        (
            "query",
            "slices 11–20, s",
            "last 10, s",
            "ratio",
            "rows/s",
            "most state",
            "state at the end",
            "punctuation entries",
        ),
        tuple(
            (
                name,
                f"{median(run.slice_seconds[FIRST]):.2f}",
                f"{median(run.slice_seconds[LAST]):.2f}",
                f"{ratio(run):.2f}",
                f"{sum(each.rows_in for each in run.slices) / run.seconds:,.0f}",
                f"{max(each.state_rows for each in run.slices):,}",
                f"{run.slices[-1].state_rows:,}",
                f"{max(each.punctuation_rows for each in run.slices):,}",
            )
            for name, run in runs.items()
        ),
    )


def targets(runs: Mapping[str, Run]) -> list[Target]:
    return [at_most(f"{name}: last ten slices / slices 11 to 20", ratio(run), 1.1) for name, run in runs.items()]


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.algebra --slices {options.slices} --rows {options.rows} --warm-up {options.warm_up}"
        f" --memory {options.memory}"
    )
    runs: dict[str, Run] = {}
    for name in QUERIES:
        print(f"{name} …", flush=True)
        runs[name] = isolated(measure, name, options)
    found = targets(runs)
    lines = [Line(name, [*enumerate(run.slice_seconds, start=1)]) for name, run in runs.items()]
    picture = plot(f"Time of slices of {options.rows:,} rows", "slice", "seconds", lines)
    queries = ";\n".join(QUERIES.values())
    parts: list[str | Table] = [
        "# DISTINCT, GROUP BY, EXCEPT",
        f"```sql\n{queries};\n```",
        facts(about),
        "![time of each slice](algebra-slices.svg)",
        result_table(runs),
        target_table(found),
        HOW,
    ]
    data = {"about": about, "queries": {name: run.figures for name, run in runs.items()}}
    return publish("algebra", parts, found, data, {"algebra-slices.svg": picture})


if __name__ == "__main__":
    sys.exit(main())
