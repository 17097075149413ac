"""A slice that is many times larger than the heap, and a key that has most of the rows.

    python -m bench.load --memory 1g --rows 20000000 --state 5000000

Spark has to spill; no slice fails, and a hot key does not make one slow.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

import caesura
from bench.files import in_order
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_most, target_table

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "load"
SCRATCH = DIRECTORY / "scratch"
HOT = 0.8
"""The part of the rows that the hot key has."""
ROUNDS = 3
JOIN = "SELECT r.key, r.value, s.value AS other FROM r JOIN s ON r.key = s.key"
GROUP = "SELECT key, COUNT(*) AS n, SUM(value) AS total FROM s GROUP BY key"
HOW = f"""\
- Large: stream r brings its rows, each with a key of its own; then s brings its rows, each of which meets one, and
  closes all keys. The heap has to do for everything: Spark, its tasks and the driver.
- Hot: the same with fewer rows. One key has {HOT:.0%} of the rows of s, or all have alike. Warm, in turns, the
  median of {ROUNDS} rounds.
"""


def write_streams(spark: SparkSession, directory: Path, keys: int, rows: int, hot: float) -> Path:
    """Two slices: r's rows, then those of s and the end of all keys."""
    key = f"IF(id % 100 < {hot * 100:.0f}, 0, pmod(id * 7919, {keys}))"
    files = {
        "r": [f"SELECT id, id * 7, CAST(NULL AS STRING) FROM range({keys})", "SELECT 0L, 0L, '{}' WHERE false"],
        "s": [
            "SELECT 0L, 0L, '{}' WHERE false",
            f"""SELECT {key}, id, CAST(NULL AS STRING) FROM range({rows})
            UNION ALL SELECT NULL, NULL, '{{"key": {{"ge": 0}}}}'""",
        ],
    }
    for name, slices in files.items():
        for number, query in enumerate(slices):
            parts = directory / name / f"_{number}"
            spark.sql(query).toDF("key", "value", "_punctuation").coalesce(1).write.parquet(str(parts))
            [part] = parts.glob("part-*.parquet")
            part.rename(directory / name / f"part-{number:05}.parquet")
            shutil.rmtree(parts)
        in_order(directory / name)
    return directory


def pipeline(directory: Path, query: str) -> str:
    return f"""
    CREATE STREAM r (key BIGINT, value BIGINT, UNIQUE (key))
      USING parquet LOCATION '{directory / "r"}' OPTIONS (maxFilesPerTrigger 1);
    CREATE STREAM s (key BIGINT, value BIGINT, PUNCTUATED BY (key))
      USING parquet LOCATION '{directory / "s"}' OPTIONS (maxFilesPerTrigger 1);
    {query};"""


@dataclass(frozen=True)
class Found:
    large: Run
    grouped: Run
    hot: dict[str, list[tuple[float, float]]]
    """By query: the seconds of the slice with all keys alike, and with a hot one."""

    def ratio(self, query: str) -> float:
        return median(hot for _, hot in self.hot[query]) / median(even for even, _ in self.hot[query])


def longest(run: Run) -> float:
    return max(each.seconds for each in run.slices)


def measure(options: argparse.Namespace) -> Found:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    with spark_session(options.memory) as spark:
        session = caesura.Session(spark)
        print("writing the streams …", flush=True)
        large = write_streams(spark, DIRECTORY / "large", options.state, options.rows, 0)
        even = write_streams(spark, DIRECTORY / "even", options.hot // 10, options.hot, 0)
        hot = write_streams(spark, DIRECTORY / "hot", options.hot // 10, options.hot, HOT)
        print("a hot key …", flush=True)
        found: dict[str, list[tuple[float, float]]] = {}
        for name, query in (("join", JOIN), ("group", GROUP)):
            for each in (even, hot):
                run_to_end(session, pipeline(each, query), SCRATCH)
            found[name] = [
                (
                    longest(run_to_end(session, pipeline(even, query), SCRATCH)),
                    longest(run_to_end(session, pipeline(hot, query), SCRATCH)),
                )
                for _ in range(ROUNDS)
            ]
            print(name, found[name], flush=True)
        print("a large slice …", flush=True)
        joined = run_to_end(session, pipeline(large, JOIN), SCRATCH)
        grouped = run_to_end(session, pipeline(large, GROUP), SCRATCH)
        return Found(joined, grouped, found)


def targets(found: Found) -> list[Target]:
    return [
        at_most("join: slice with a hot key / with even ones", found.ratio("join"), 3),
        at_most("group: slice with a hot key / with even ones", found.ratio("group"), 3),
    ]


def tables(found: Found, options: argparse.Namespace) -> list[Table]:
    large = Table(
        ("large", "rows in the slice", "state", "heap", "rows out", "seconds of the slice"),
        tuple(
            (
                name,
                f"{max(each.rows_in for each in run.slices):,}",
                f"{max(each.state_rows for each in run.slices):,}",
                options.memory,
                f"{run.rows_out:,}",
                f"{longest(run):.1f}",
            )
            for name, run in (("join", found.large), ("group", found.grouped))
        ),
    )
    hot = Table(
        ("hot key", "even, s", "hot, s", "ratio"),
        tuple(
            (
                name,
                ", ".join(f"{even:.1f}" for even, _ in several),
                ", ".join(f"{hot:.1f}" for _, hot in several),
                f"{found.ratio(name):.2f}",
            )
            for name, several in found.hot.items()
        ),
    )
    return [large, hot, target_table(targets(found))]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__.splitlines()[0])
    parser.add_argument("--memory", default="1g", help="heap of the JVM (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=20_000_000, help="of the large slice (default: %(default)s)")
    parser.add_argument("--state", type=int, default=5_000_000, help="rows of state (default: %(default)s)")
    parser.add_argument("--hot", type=int, default=2_000_000, help="rows beside a hot key (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.load --memory {options.memory} --rows {options.rows} --state {options.state}"
        f" --hot {options.hot}"
    )
    found = isolated(measure, options)
    right = found.large.rows_out == options.rows and found.grouped.rows_out == options.state
    print(
        "every row met one" if right else f"rows are missing: {found.large.rows_out:,}, {found.grouped.rows_out:,}"
    )
    parts: list[str | Table] = ["# Large slices and hot keys", facts(about), *tables(found, options), HOW]
    data = {"about": about, "large": found.large.figures, "group": found.grouped.figures, "hot": found.hot}
    return publish("load", parts, targets(found), data, {}) or int(not right)


if __name__ == "__main__":
    sys.exit(main())
