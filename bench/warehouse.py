"""The temperature in a warehouse, as Tucker et al. measured it: state and time by punctuations per hour.

    python -m bench.warehouse --hours 60 --per-minute 1000 --slices 20 --rounds 1

All runs are in one JVM, warm, and the numbers of punctuations take turns.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import caesura
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.process import isolated
from bench.report import images, publish
from bench.result import median
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_most, target_table
from bench.workload import warm_up
from caesura.testing.warehouse import SENSORS, WarehouseStreams, write_warehouse_streams

PER_HOUR = (0, 1, 2, 4, 10, 30)
A_FEW = (1, 2, 4)
UNION = "distinct"
"""The name of the union's state table."""
WARM_UP_SLICES = 3
DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "warehouse"

QUERY = """
SELECT MAX(currtmp) AS maxtemp, hour
FROM (
  SELECT currtmp, hour FROM sensor1
  UNION
  SELECT currtmp, hour FROM sensor2
)
GROUP BY hour
"""

HOW = """\
- Two sensors, each with so many reports for every minute; they send as fast as they are read. A slice is a file of
  each. About two in five reports repeat one of the same hour.
- The last punctuation of an hour says that the hour is over. If there are several, those before it say so of the
  minutes since the last; they cost something, and this query has no use for them.
- Without punctuations the query is refused; here it runs as with `--allow-unbounded`, and gives its rows when the
  streams end.
- All runs are in one JVM and take turns, after a warm-up with short streams of every kind. Of
  several rounds the one with the median time is shown. State is that of the union, in rows after each slice.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.warehouse", description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=int, default=60)
    parser.add_argument("--per-minute", type=int, default=1000, help="reports of a sensor (default: %(default)s)")
    parser.add_argument("--slices", type=int, default=20)
    parser.add_argument(
        "--per-hour", type=int, nargs="+", choices=PER_HOUR, default=PER_HOUR, help="punctuations (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=60, help="seconds (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of the JVM (default: %(default)s)")
    options = parser.parse_args()
    if not {0, 1} <= {*options.per_hour}:
        parser.error("--per-hour needs 0 and 1, which the others are compared with")
    return options


def measure(options: argparse.Namespace) -> dict[int, list[Run]]:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    with spark_session(options.memory) as spark:
        session = caesura.Session(spark)
        print("writing the streams …", flush=True)
        streams, short = {}, {}
        for n in options.per_hour:
            common = {"per_minute": options.per_minute, "per_degree": 10 * options.per_minute, "punctuations": n}
            streams[n] = write_warehouse_streams(
                spark, DIRECTORY / str(n), options.hours, options.slices, **common
            )
            hours = max(WARM_UP_SLICES * options.hours // options.slices, 1)
            folder = DIRECTORY / "warm_up" / str(n)
            short[n] = write_warehouse_streams(spark, folder, hours, WARM_UP_SLICES, seed=1, **common)
        print("warming up …", flush=True)
        warm_up(lambda: [_run(session, n, short[n]) for n in options.per_hour], options.warm_up)
        rounds: dict[int, list[Run]] = {n: [] for n in options.per_hour}
        for number in range(options.rounds):
            for n in options.per_hour:
                print(f"round {number + 1}: {n} punctuations per hour …", flush=True)
                rounds[n].append(_run(session, n, streams[n]))
        return rounds


def _run(session: caesura.Session, per_hour: int, streams: WarehouseStreams) -> Run:
    promises = [", PUNCTUATED BY (hour)"] * (per_hour > 0) + [", PUNCTUATED BY (hour, minute)"] * (per_hour > 1)
    declared = "".join(
        f"CREATE STREAM {name} (sid STRING, hour INT NOT NULL, minute INT, currtmp DOUBLE{''.join(promises)})\n"
        f"USING parquet LOCATION '{streams.sensor(name)}' OPTIONS (maxFilesPerTrigger 1);\n"
        for name in SENSORS
    )
    run = run_to_end(session, f"{declared}{QUERY};", DIRECTORY / "scratch", allow_unbounded=per_hour == 0)
    if run.rows_out != streams.hours:
        sys.exit(f"{run.rows_out:,} rows for {streams.hours:,} hours")
    return run


def state(run: Run) -> list[int]:
    return [each.state[UNION] for each in run.slices]


def result_table(runs: Mapping[int, Run]) -> Table:
    return Table(
        ("punctuations per hour", "first result, s", "all, s", "ratio", "most state", "state at the end"),
        tuple(
            (
                str(n),
                f"{run.first_result:.1f}",
                f"{run.seconds:.1f}",
                f"{run.seconds / runs[0].seconds:.2f}",
                f"{max(state(run)):,}",
                f"{state(run)[-1]:,}",
            )
            for n, run in runs.items()
        ),
    )


def targets(runs: Mapping[int, Run]) -> list[Target]:
    none, hourly = runs[0], runs[1]
    half = len(hourly.slices) // 2
    growth = max(state(hourly)[half:]) / max(state(hourly)[:half])
    return [
        at_most("most state in the second half of the run / in the first, closed hourly", growth, 1.1),
        at_most("most state, closed hourly / without", max(state(hourly)) / max(state(none)), 0.1),
        at_most("first result, closed hourly / without", hourly.first_result / none.first_result, 0.1),
        *(
            at_most(f"time with {n} per hour / without", runs[n].seconds / none.seconds, 1)
            for n in A_FEW
            if n in runs
        ),
    ]


def plots(runs: Mapping[int, Run]) -> dict[str, str]:
    """The paper's figures 2a and 2b."""

    def over_time(n: int) -> list[tuple[float, float]]:
        arrived = accumulate(each.rows_in / 1e6 for each in runs[n].slices)
        return [(0, 0), *zip(arrived, (rows / 1e3 for rows in state(runs[n])), strict=True)]

    states = [
        Line("no punctuations", over_time(0)),
        Line("one per hour", over_time(1), dashed=True),
    ]
    times = [
        Line("all results", [(n, run.seconds) for n, run in runs.items()]),
        Line("first result", [(n, run.first_result) for n, run in runs.items()], dashed=True),
    ]
    return {
        "warehouse-state.svg": plot("State of the union", "million reports read", "thousand rows", states),
        "warehouse-time.svg": plot("Time of the results", "punctuations per hour", "seconds", times),
    }


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.warehouse --hours {options.hours} --per-minute {options.per_minute}"
        f" --slices {options.slices} --per-hour {' '.join(map(str, options.per_hour))} --rounds {options.rounds}"
        f" --warm-up {options.warm_up} --memory {options.memory}"
    )
    rounds = isolated(measure, options)
    runs = {n: median(rounds[n]) for n in sorted(rounds)}
    found = targets(runs)
    pictures = plots(runs)
    parts: list[str | Table] = [
        "# The temperature in a warehouse",
        f"```sql{QUERY}```",
        facts(about),
        images(pictures),
        result_table(runs),
        target_table(found),
        HOW,
    ]
    data = {n: [run.figures for run in each] for n, each in rounds.items()}
    return publish("warehouse", parts, found, {"about": about, "per hour": data}, pictures)


if __name__ == "__main__":
    sys.exit(main())
