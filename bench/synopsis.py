"""A bounded aggregate over two streams that promise nothing, against Spark's batch over one table.

    python -m bench.synopsis --rows 10000000 --slices 1

Half of the rows are of each stream. The join has about 10¹¹ rows, which nobody makes: Caesura keeps as many rows
of each stream as there are keys. Spark's batch computes the same aggregates over one table that is joined already
and has as many rows as the two streams together, which is the least that anybody has to do for them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import caesura
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_least, at_most, target_table
from caesura.testing.slices import Histogram, even_cuts, write_slices

KEYS = 50
AGGREGATES = "COUNT(*) AS n, SUM(x) AS total, MAX(y) AS most"
QUERY = f"""
SELECT s.k, {AGGREGATES}
FROM s, t WHERE s.k = t.k AND s.k BETWEEN 1 AND {KEYS} GROUP BY s.k
"""
BATCH = f"SELECT k, {AGGREGATES} FROM joined WHERE k BETWEEN 1 AND {KEYS} GROUP BY k"
DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "synopsis"
MEGABYTE = 1_000_000
WARM_UP = 20
"""Rounds that do not count."""

HOW = """\
- Keys are drawn evenly from 1 to 60, so that a sixth of the rows joins nothing; values are any. Both systems read
  parquet, in one JVM that is warm from runs of both; rounds are interleaved.
- Seconds of Caesura are those of its slices, commits included, without the time to start and to end the query.
- Results of Caesura equal those of a batch query that groups both tables before it joins them.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.synopsis", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of both streams (default: %(default)s)")
    parser.add_argument("--slices", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--memory", default="8g", help="heap of the JVM (default: %(default)s)")
    return parser.parse_args()


def drawn(spark: SparkSession, rows: int, value: str, seed: int) -> DataFrame:
    numbers = spark.range(rows).withColumnRenamed("id", "position")
    key = (sf.abs(sf.hash("position", sf.lit(seed))) % 60 + 1).cast("int").alias("k")
    drawn = sf.xxhash64("position", sf.lit(seed))
    return numbers.select("position", key, (drawn if value == "y" else drawn / 1e9).alias(value))


def written(spark: SparkSession, rows: int, slices: int) -> str:
    """The streams, the table, and the pipeline that reads them."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    half = rows // 2
    for name, value, seed in (("s", "y", 1), ("t", "x", 2)):
        stream = drawn(spark, half, value, seed)
        histogram = Histogram.of(stream, max(half // 1000, 1))
        ends = [histogram.position_after(fraction) for fraction in even_cuts(slices)]
        write_slices(stream, DIRECTORY / name, ends, "parquet")
    both = drawn(spark, rows, "x", 3).join(drawn(spark, rows, "y", 4).drop("k"), "position").drop("position")
    both.coalesce(2).write.parquet(str(DIRECTORY / "joined"))
    declared = "".join(
        f"CREATE STREAM {name} (k INT, {value} {type}) USING parquet LOCATION '{DIRECTORY / name}'"
        " OPTIONS (maxFilesPerTrigger 1);"
        for name, value, type in (("s", "y", "BIGINT"), ("t", "x", "DOUBLE"))
    )
    return declared + QUERY


def measure(options: argparse.Namespace) -> tuple[list[Run], list[float], int]:
    """Rounds of Caesura, seconds of batches, bytes of state."""
    with spark_session(options.memory) as spark:
        pipeline = written(spark, options.rows, options.slices)
        spark.read.parquet(str(DIRECTORY / "joined")).createOrReplaceTempView("joined")
        session = caesura.Session(spark)
        checkpoint = DIRECTORY / "checkpoint"
        runs: list[Run] = []
        batches: list[float] = []
        for _ in range(options.rounds + WARM_UP):
            runs.append(run_to_end(session, pipeline, checkpoint))
            for _ in range(2):
                start = perf_counter()
                spark.sql(BATCH).write.format("noop").mode("overwrite").save()
                batches.append(perf_counter() - start)
        return runs[WARM_UP:], batches[2 * WARM_UP :], _state_bytes(session, pipeline, checkpoint)


def _state_bytes(session: caesura.Session, pipeline: str, checkpoint: Path) -> int:
    """Of streams that have not ended: then there would be none."""
    shutil.rmtree(checkpoint, ignore_errors=True)
    query = session.sql(pipeline).start(format="noop", checkpoint=str(checkpoint))
    query.processAllAvailable()
    query.stop()
    return sum(file.stat().st_size for file in (checkpoint / "state").rglob("*") if file.is_file())


def seconds(run: Run) -> float:
    return sum(each.seconds for each in run.slices)


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.synopsis --rows {options.rows} --slices {options.slices} --rounds {options.rounds}"
        f" --memory {options.memory}"
    )
    runs, batches, state = isolated(measure, options)
    streamed, batch = median(map(seconds, runs)), median(batches)
    most = max(each.state_rows for run in runs for each in run.slices)
    found: list[Target] = [
        at_least("rows/s / batch over one joined table", batch / streamed, 0.5),
        at_most("state, MB", state / MEGABYTE, 1),
    ]
    table = Table(
        ("system", "rows/s", "seconds", "state rows", "state kB"),
        (
            ("Caesura", f"{options.rows / streamed:,.0f}", f"{streamed:.2f}", f"{most:,}", f"{state / 1000:,.0f}"),
            ("Spark batch", f"{options.rows / batch:,.0f}", f"{batch:.2f}", "", ""),
        ),
    )
    parts: list[str | Table] = [
        "# A bounded aggregate over two streams without promises",
        f"```sql{QUERY}```",
        facts(about),
        table,
        target_table(found),
        HOW,
    ]
    data = {"about": about, "caesura": [run.figures for run in runs], "batch": batches}
    return publish("synopsis", parts, found, data)


if __name__ == "__main__":
    sys.exit(main())
