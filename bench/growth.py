"""The time of a slice: flat while history grows, linear in the state.

    python -m bench.growth --slices 200

First the three-way cycle of Li et al., in which only the join of all three at once is safe, over many slices. Then
a join whose state is held at a size, for several sizes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from pyspark.sql import SparkSession

import caesura
from bench.files import in_order
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.process import isolated
from bench.report import images, publish
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_most, target_table
from caesura.testing.slices import FIRST_MODIFIED

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "growth"

CYCLE = {"s1": ("a", "b"), "s2": ("b", "c"), "s3": ("c", "a")}
"""The columns of each stream. It punctuates the second: S1(B), S2(C), S3(A)."""
ROWS_PER_BLOCK, BLOCKS, OPEN = 10, 100, 100
"""Rows between two punctuations, punctuations of a stream in a slice, and values of a column that are open."""
JOINED = "SELECT {hint} s1.a, s1.b, s2.c FROM s1, s2, s3 WHERE s1.b = s2.b AND s2.c = s3.c AND s3.a = s1.a"

SIZES = (10_000, 100_000, 1_000_000, 5_000_000, 10_000_000)
CHANGED = 10_000
"""Rows of each stream, and keys closed, in a slice."""
WARM, PERIOD = 2, 16
"""Slices before those that count, and those after which a large table is written anew."""

HOW = f"""\
- Cycle: each slice brings {ROWS_PER_BLOCK * BLOCKS:,} rows and {BLOCKS} punctuations of each stream. State and
  times are compared between the last quarter of the slices and the second, in means.
- State: a stream whose keys are unique brings so many rows in the first slice. Each later slice brings {CHANGED:,}
  more and {CHANGED:,} rows of another stream that each meet one, and closes the {CHANGED:,} oldest keys. Times are
  means of {PERIOD} slices: large tables are written anew once in so many, in the longest of them.
"""


def write_cycle(spark: SparkSession, slices: int) -> None:
    places = ROWS_PER_BLOCK + 1
    is_row = f"id % {places} < {ROWS_PER_BLOCK}"
    block = f"id DIV {places}"
    for seed, (name, columns) in enumerate(CYCLE.items()):
        values = (
            f"IF({is_row}, {block} - pmod(xxhash64('{column}', {seed}, id), {OPEN}), NULL) AS {column}"
            for column in columns
        )
        punctuation = f"""concat('{{"{columns[1]}": ', {block} - {OPEN}, '}}')"""
        (
            spark.range(0, BLOCKS * places * slices, 1, slices)
            .selectExpr(*values, f"IF({is_row}, NULL, {punctuation}) AS _punctuation")
            .write.parquet(str(DIRECTORY / name))
        )
        in_order(DIRECTORY / name)


def cycle(hint: str = "") -> str:
    declared = (
        f"CREATE STREAM {name} ({one} BIGINT, {other} BIGINT, PUNCTUATED BY ({other}))"
        f" USING parquet LOCATION '{DIRECTORY / name}' OPTIONS (maxFilesPerTrigger 1);"
        for name, (one, other) in CYCLE.items()
    )
    return "\n".join((*declared, f"{JOINED.format(hint=hint)};"))


def refusal(session: caesura.Session) -> str:
    """What is said of the binary tree."""
    try:
        session.sql(cycle("/*+ TREE((s1, s2), s3) */")).start(format="noop", checkpoint=str(DIRECTORY / "tree"))
    except caesura.CaesuraError as error:
        return str(error).splitlines()[0]
    sys.exit("the tree of binary joins was not refused")


def write_held(spark: SparkSession, size: int) -> Path:
    """Streams that hold a state at a size."""
    directory = DIRECTORY / f"state {size}"
    for k in range(WARM + PERIOD + 1):
        added = f"SELECT {size} + id, id, NULL FROM range({-size}, 0)"
        met = "SELECT id, id, NULL FROM range(0)"
        if k:
            closed = k * CHANGED
            added = f"SELECT {size + closed} + id, id, NULL FROM range({-CHANGED}, 0)"
            met = f"""
            SELECT {closed} + pmod(xxhash64(id, {k}), {size}), id, NULL FROM range({CHANGED})
            UNION ALL SELECT NULL, NULL, '{{"key": {{"lt": {closed}}}}}'"""
        for name, query in (("r", added), ("s", met)):
            _write_file(spark, query, directory / name, k)
    return directory


def _write_file(spark: SparkSession, query: str, folder: Path, number: int) -> None:
    columns = {"key": "BIGINT", "value": "BIGINT", "_punctuation": "STRING"}
    rows = spark.sql(query).toDF(*columns)
    rows = rows.selectExpr(*(f"CAST({column} AS {type}) AS {column}" for column, type in columns.items()))
    parts = folder / "_parts"
    rows.coalesce(1).write.parquet(str(parts))
    [part] = parts.glob("part-*.parquet")
    file = part.rename(folder / f"part-{number:05}.parquet")
    os.utime(file, (FIRST_MODIFIED + number,) * 2)
    shutil.rmtree(parts)


def held(directory: Path) -> str:
    return f"""
    CREATE STREAM r (key BIGINT, value BIGINT, UNIQUE (key))
      USING parquet LOCATION '{directory / "r"}' OPTIONS (maxFilesPerTrigger 1);
    CREATE STREAM s (key BIGINT, value BIGINT, PUNCTUATED BY (key))
      USING parquet LOCATION '{directory / "s"}' OPTIONS (maxFilesPerTrigger 1);
    SELECT r.key, r.value, s.value AS other FROM r JOIN s ON r.key = s.key;"""


@dataclass(frozen=True)
class Found:
    refused: str
    cycle: Run
    held: dict[int, Run]

    def quarters(self, figures: Sequence[float]) -> float:
        """The last over the second."""
        quarter = len(figures) // 4
        return mean(figures[-quarter:]) / mean(figures[quarter : 2 * quarter])

    @property
    def seconds(self) -> dict[int, float]:
        """A slice, by the size of the state."""
        return {size: mean(run.slice_seconds[-PERIOD:]) for size, run in self.held.items()}

    def per_row(self, fewer: int, more: int) -> float:
        """What a row of state adds to the time of a slice, between two sizes."""
        return (self.seconds[more] - self.seconds[fewer]) / (more - fewer)


def measure(options: argparse.Namespace) -> Found:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    with spark_session(options.memory) as spark:
        session = caesura.Session(spark)
        print("writing the streams …", flush=True)
        write_cycle(spark, options.slices)
        folders = {size: write_held(spark, size) for size in options.sizes}
        print("the cycle …", flush=True)
        cyclic = run_to_end(session, cycle(), DIRECTORY / "scratch")
        print("warming up …", flush=True)
        for directory in [*folders.values()][:-2]:  # small ones, but all kinds: large tables are held differently
            run_to_end(session, held(directory), DIRECTORY / "scratch")
        sizes = {}
        for size, directory in folders.items():
            print(f"{size:,} rows of state …", flush=True)
            sizes[size] = run_to_end(session, held(directory), DIRECTORY / "scratch")
        return Found(refusal(session), cyclic, sizes)


def targets(found: Found) -> list[Target]:
    rows = [each.state_rows for each in found.cycle.slices]
    small, *_, half, large = found.seconds
    return [
        at_most("cycle: state rows, last quarter / second", found.quarters(rows), 1.05),
        at_most("cycle: time of a slice, last quarter / second", found.quarters(found.cycle.slice_seconds), 1.1),
        at_most(
            f"state: time of a row, from {half:,} to {large:,} / up to {half:,} (twice the size squared: 3)",
            found.per_row(half, large) / found.per_row(small, half),
            1.5,
        ),
    ]


def tables(found: Found) -> list[Table]:
    slices = found.cycle.slices
    quarter = len(slices) // 4
    cyclic = Table(
        ("cycle, slices", "state rows", "punctuations", "seconds a slice"),
        tuple(
            (
                f"{start + 1} to {start + quarter}",
                f"{mean(each.state_rows for each in slices[start : start + quarter]):,.0f}",
                f"{mean(each.punctuation_rows for each in slices[start : start + quarter]):,.0f}",
                f"{mean(found.cycle.slice_seconds[start : start + quarter]):.2f}",
            )
            for start in range(0, 4 * quarter, quarter)
        ),
    )
    sizes = Table(
        ("state", "seconds a slice", "the longest", "state rows at the end"),
        tuple(
            (
                f"{size:,}",
                f"{found.seconds[size]:.2f}",
                f"{max(run.slice_seconds[-PERIOD:]):.2f}",
                f"{run.slices[-1].state_rows:,}",
            )
            for size, run in found.held.items()
        ),
    )
    return [cyclic, sizes, target_table(targets(found))]


def plots(found: Found) -> dict[str, str]:
    slices = found.cycle.slices
    state = Line("rows in state", [(i, each.state_rows) for i, each in enumerate(slices, 1)])
    seconds = Line("seconds", [*enumerate(found.cycle.slice_seconds, 1)])
    sizes = Line("Caesura", [(size / 1e6, each) for size, each in found.seconds.items()])
    return {
        "growth-cycle-state.svg": plot("Three-way cycle: state", "slice", "rows in state", [state]),
        "growth-cycle-time.svg": plot("Three-way cycle: time of a slice", "slice", "seconds", [seconds]),
        "growth-state.svg": plot("The time of a slice by the state", "million rows of state", "seconds", [sizes]),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=int, default=200, help="of the cycle (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows of state (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of the JVM (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.growth --slices {options.slices} --sizes {' '.join(map(str, options.sizes))}"
        f" --memory {options.memory}"
    )
    found = isolated(measure, options)
    print(found.refused)
    drawn = plots(found)
    parts: list[str | Table] = [
        "# The time of a slice",
        facts(about),
        *tables(found),
        f"The tree of binary joins is refused: {found.refused}",
        images(drawn),
        HOW,
    ]
    data = {
        "about": about,
        "cycle": found.cycle.figures,
        "state": {size: run.figures for size, run in found.held.items()},
    }
    return publish("growth", parts, targets(found), data, drawn)


if __name__ == "__main__":
    sys.exit(main())
