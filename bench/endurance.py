"""Whether anything grows: disk, files, threads, heap and the time of a slice over thousands of slices.

    python -m bench.endurance --slices 2000

A join of two streams of files, with rows that are set aside now and then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import duckdb
from pyspark.sql import SparkSession

import caesura
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.process import isolated
from bench.report import images, publish
from bench.session import spark_session
from bench.targets import Target, at_most, target_table
from caesura.testing.slices import FIRST_MODIFIED

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "endurance"
CHECKPOINT = DIRECTORY / "checkpoint"
KEYS, OPEN, ROWS = 50, 10, 400
"""Keys that begin in a slice, slices for which a key is open, rows of a stream in a slice."""
BROKEN, KEPT = 10, 25
"""Slices after which one has a line that is set aside, and how many of those are kept."""
EVERY = 20
"""Slices after which the heap is looked at: that takes a full collection."""
SQL = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k), CHECK (x >= 0))
USING parquet LOCATION 'a' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) USING parquet LOCATION 'b' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK pairs USING parquet LOCATION 'pairs';
INSERT INTO pairs SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
"""
HOW = f"""\
- Each slice brings {ROWS} rows of each stream over {KEYS * OPEN} open keys, and closes {KEYS}. One of {BROKEN}
  has a row that is set aside; what {KEPT} of those set aside is kept (`keep_quarantined`).
- Disk and files are those of the checkpoint after a slice. Spark's list of the files that it has read has a line
  for each of them, for ever: it is counted apart.
- Heap: what is used after a full collection, every {EVERY} slices. Threads: of the JVM and of Python.
- Compared are the means of the last quarter of the slices and of the second.
"""


@dataclass
class Figures:
    """After each slice, except for the heap, which has fewer."""

    seconds: list[float] = field(default_factory=list)
    disk: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    """Of the disk, Spark's list of files."""
    files: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    heap: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)


def write_streams(slices: int) -> None:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    for name, column in (("a", "x"), ("b", "y")):
        (DIRECTORY / name).mkdir(parents=True)
        for slice in range(slices):
            first, file = slice * KEYS, DIRECTORY / name / f"{slice:05}.parquet"
            least = -1 if slice % BROKEN == 0 else 0
            duckdb.execute(f"""
            COPY (
              SELECT {first} + i * 7 % {KEYS * OPEN} AS k, greatest(i - 1, {least}) AS {column},
                CAST(NULL AS VARCHAR) AS _punctuation FROM range({ROWS}) AS rows(i)
              UNION ALL SELECT NULL, NULL, '{{"k": {{"lt": {first + KEYS}}}}}'
            ) TO '{file}' (FORMAT parquet)""")
            os.utime(file, (FIRST_MODIFIED + slice,) * 2)
    (DIRECTORY / "pipeline.sql").write_text(SQL)


def measure(options: argparse.Namespace) -> Figures:
    write_streams(options.slices)
    figures = Figures()
    with spark_session(options.memory) as spark:
        look = _looking(spark, figures)
        query = (
            caesura.Session(spark)
            .file(DIRECTORY / "pipeline.sql")
            .start(checkpoint=str(CHECKPOINT), until_end=True, keep_quarantined=KEPT, on_progress=look)
        )
        query.awaitTermination()
    return figures


def _looking(spark: SparkSession, figures: Figures) -> Callable[[caesura.Progress], None]:
    jvm: Any = spark._jvm
    beans, last = jvm.java.lang.management.ManagementFactory, perf_counter()

    def look(progress: caesura.Progress) -> None:
        nonlocal last
        if not progress.rows_in:
            return
        figures.seconds.append(perf_counter() - last)
        sizes = {path: path.stat().st_size for path in CHECKPOINT.rglob("*") if path.is_file()}
        figures.disk.append(sum(sizes.values()))
        figures.read.append(sum(size for path, size in sizes.items() if "sources" in path.parts))
        figures.files.append(len(sizes))
        figures.threads.append(beans.getThreadMXBean().getThreadCount() + threading.active_count())
        figures.state.append(progress.state_rows)
        if progress.slice % EVERY == 0:
            jvm.java.lang.System.gc()
            figures.heap.append(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed())
            if progress.slice % (EVERY * 10) == 0:
                print(f"slice {progress.slice}: {mean(figures.seconds[-EVERY:]):.2f} s", flush=True)
        last = perf_counter()

    return look


def quarter(figures: Sequence[float], number: int) -> float:
    """The mean of one of four."""
    length = len(figures) // 4
    return mean(figures[(number - 1) * length : number * length])


def growth(figures: Sequence[float]) -> float:
    return quarter(figures, 4) / quarter(figures, 2)


def own_disk(found: Figures) -> list[float]:
    return [disk - read for disk, read in zip(found.disk, found.read, strict=True)]


def targets(found: Figures) -> list[Target]:
    return [
        at_most("disk without Spark's list of files, last quarter / second", growth(own_disk(found)), 1.1),
        at_most("disk, last quarter / second", growth(found.disk), 1.1),
        at_most("files, last quarter / second", growth(found.files), 1.1),
        at_most("threads, last quarter / second", growth(found.threads), 1.1),
        at_most("heap after a collection, last quarter / second", growth(found.heap), 1.1),
        at_most("time of a slice, last quarter / second", growth(found.seconds), 1.1),
    ]


def table(found: Figures) -> Table:
    def row(number: int) -> tuple[str, ...]:
        length = len(found.seconds) // 4
        return (
            f"{(number - 1) * length + 1} to {number * length}",
            f"{quarter(own_disk(found), number) / 1e6:.2f} MB",
            f"{quarter(found.read, number) / 1e6:.2f} MB",
            f"{quarter(found.files, number):.0f}",
            f"{quarter(found.threads, number):.0f}",
            f"{quarter(found.heap, number) / 1e6:.0f} MB",
            f"{quarter(found.state, number):,.0f}",
            f"{quarter(found.seconds, number):.3f}",
        )

    head = ("slices", "disk", "Spark's list", "files", "threads", "heap", "rows in state", "seconds a slice")
    return Table(head, tuple(row(number) for number in range(1, 5)))


def plots(found: Figures) -> dict[str, str]:
    def line(name: str, figures: Sequence[float]) -> Line:
        """Means, of at most a hundred parts: what grows shows in them."""
        size = max(1, len(figures) // 100)
        step = len(found.seconds) / len(figures)
        parts = range(0, len(figures) - size + 1, size)
        return Line(name, [((at + size) * step, mean(figures[at : at + size])) for at in parts])

    disk = [line("Caesura's", [each / 1e6 for each in own_disk(found)])]
    disk.append(line("Spark's list of files", [each / 1e6 for each in found.read]))
    heap = line("after a collection", [each / 1e6 for each in found.heap])
    return {
        "endurance-disk.svg": plot("The checkpoint", "slice", "MB", disk),
        "endurance-files.svg": plot(
            "Files and threads", "slice", "number", [line("files", found.files), line("threads", found.threads)]
        ),
        "endurance-heap.svg": plot("The heap", "slice", "MB", [heap]),
        "endurance-time.svg": plot("The time of a slice", "slice", "seconds", [line("seconds", found.seconds)]),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.endurance", description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=int, default=2_000, help="(default: %(default)s)")
    parser.add_argument("--memory", default="2g", help="heap of the JVM (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(f"python -m bench.endurance --slices {options.slices} --memory {options.memory}")
    found = isolated(measure, options)
    drawn = plots(found)
    parts: list[str | Table] = ["# What grows over many slices", facts(about), table(found)]
    parts += [target_table(targets(found)), images(drawn), HOW]
    return publish("endurance", parts, targets(found), {"about": about, **vars(found)}, drawn)


if __name__ == "__main__":
    sys.exit(main())
