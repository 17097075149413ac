"""A window join without punctuations, and the auctions' band: Caesura against Spark's own stream-stream join.

    python -m bench.windowed --seconds 60 --rate 50000 --slices 6 --rounds 3

Every run is a process of its own on the same two cores and with the same heap, and the systems take turns.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import duckdb
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

import caesura
from bench.baselines.spark_stream import run_stream, stream_result
from bench.measure import Table, circumstances, facts
from bench.process import isolated
from bench.report import publish
from bench.result import Result, median
from bench.run import by_caesura, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_least, at_most, target_table
from bench.workload import WARM_UP_SECONDS, WARM_UP_SLICES, warm_up
from caesura.testing import (
    ArrivalPattern,
    AuctionStreams,
    PunctuatedStream,
    write_auction_streams,
    write_punctuated_streams,
)
from caesura.testing.auction import AUCTION_SCHEMA, BID_SCHEMA

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "windowed"
WINDOW = 5
WINDOWED = f"""
SELECT a.key, a.at AS a_at, b.at AS b_at
FROM a [RANGE INTERVAL {WINDOW} SECONDS] AS a JOIN b [RANGE INTERVAL {WINDOW} SECONDS] AS b ON a.key = b.key
"""
AS_CONDITIONS = f"""
SELECT a.key, a.at AS a_at, b.at AS b_at FROM a JOIN b
ON a.key = b.key AND b.at <= a.at + INTERVAL {WINDOW} SECONDS AND a.at <= b.at + INTERVAL {WINDOW} SECONDS
"""
BAND = """
SELECT a.id, b.bidder, b.price, b.at AS bid_time FROM auction AS a JOIN bid AS b
ON a.id = b.auction AND b.at BETWEEN a.opened AND a.expires
"""
AUCTION_EVENTS, AUCTION_SLICES = 100_000, 8

HOW = f"""\
- Window join: both streams have keys drawn evenly, as many as a window of both has rows, so that a row meets about
  one other. Spark's query says the windows as conditions and has watermarks without delay on both times, since the
  streams are ordered. Seconds are of the whole input, after a warm-up of {WARM_UP_SECONDS} s in the same JVM on
  {WARM_UP_SLICES} slices of the same kind. Of several rounds the one with the median time is shown. Results are
  compared row by row, with DuckDB's, on the warm-up streams.
- Auctions: {AUCTION_EVENTS:,} events in {AUCTION_SLICES} slices. The times of opening and of bids are ordered by
  arrival, so these are the natural watermarks: with them, Spark's join lets auctions go that still get bids, and
  loses their rows. With a watermark on the time of expiry instead it lost none here, and let nothing go.
"""


@dataclass(frozen=True)
class Ticks:
    """Two streams of keys and times."""

    directory: Path
    rows: int
    """Of both."""

    @property
    def pipeline(self) -> str:
        return "\n".join(
            f"CREATE STREAM {name} (key BIGINT, at TIMESTAMP, ORDERED BY (at)) USING parquet"
            f" LOCATION '{self.directory / name}' OPTIONS (maxFilesPerTrigger 1);"
            for name in "ab"
        )

    def views(self, spark: SparkSession) -> None:
        for name in "ab":
            _stream(spark, "key BIGINT, at TIMESTAMP", self.directory / name, "at").createOrReplaceTempView(name)


@dataclass(frozen=True)
class Workload:
    streams: Ticks
    warm_up: Ticks
    auctions: AuctionStreams
    memory: str


def prepare(options: argparse.Namespace) -> Workload:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    pattern = ArrivalPattern.parse(f"uniform-{2 * WINDOW * options.rate}")
    per_slice = options.seconds * options.rate // options.slices

    def written(spark: SparkSession, name: str, slices: int, seed: int) -> Ticks:
        gap = timedelta(seconds=1) / options.rate
        streams = {
            stream: PunctuatedStream(pattern, slices * per_slice, inter_arrival=gap, seed=seed + number)
            for number, stream in enumerate("ab")
        }
        write_punctuated_streams(spark, DIRECTORY / name, streams, slices)
        return Ticks(DIRECTORY / name, 2 * slices * per_slice)

    with spark_session(options.memory) as spark:
        return Workload(
            written(spark, "streams", options.slices, 0),
            written(spark, "warm_up", WARM_UP_SLICES, 10),
            write_auction_streams(spark, DIRECTORY / "auctions", AUCTION_EVENTS, AUCTION_SLICES),
            options.memory,
        )


# The window join


def caesura_join(workload: Workload) -> Result:
    def run(session: caesura.Session, ticks: Ticks) -> Result:
        run = run_to_end(session, f"{ticks.pipeline}{WINDOWED};", DIRECTORY / "scratch")
        return run.result(ticks.rows, run.slices[-1])

    return by_caesura(run, workload.warm_up, workload.streams, workload.memory)


def spark_join(workload: Workload) -> Result:
    with spark_session(workload.memory) as spark:

        def run(ticks: Ticks) -> Result:
            ticks.views(spark)
            started = perf_counter()
            slices = _run(spark.sql(AS_CONDITIONS), None)
            return stream_result("Spark stream join", ticks.rows, perf_counter() - started, slices)

        warm_up(lambda: run(workload.warm_up))
        return run(workload.streams)


def same_results(workload: Workload) -> dict[str, int]:
    """The rows that each system gives for the warm-up streams; stops if they are not DuckDB's."""
    ticks = workload.warm_up
    with spark_session(workload.memory) as spark:
        ticks.views(spark)
        _run(spark.sql(AS_CONDITIONS), DIRECTORY / "by spark")
        _save(caesura.Session(spark), f"{ticks.pipeline}{WINDOWED};", DIRECTORY / "by caesura")
    with duckdb.connect() as database:
        for name in "ab":
            database.execute(f"CREATE VIEW {name} AS FROM '{ticks.directory / name}/*.parquet'")
        found = {"DuckDB": _count(database, f"({AS_CONDITIONS})")}
        for name, folder in (("Caesura", "by caesura"), ("Spark stream join", "by spark")):
            rows = f"(SELECT key, a_at, b_at FROM read_parquet('{DIRECTORY / folder}/**/*.parquet'))"
            if _differ(database, rows, f"({AS_CONDITIONS})"):
                sys.exit(f"{name} does not give DuckDB's rows")
            found[name] = _count(database, rows)
    return found


# The auctions' band


@dataclass(frozen=True)
class Answer:
    """What a system made of the band."""

    name: str
    rows: int
    state_rows: int | None
    """Before the end of the streams."""


def bands(workload: Workload) -> list[Answer]:
    """DuckDB's answer first, then Caesura's, which is to be the same row by row, and those of Spark's join."""
    auctions = workload.auctions
    pipeline = f"""
    CREATE STREAM auction ({AUCTION_SCHEMA}, UNIQUE (id), ORDERED BY (opened))
      USING parquet LOCATION '{auctions.auction}' OPTIONS (maxFilesPerTrigger 1);
    CREATE STREAM bid ({BID_SCHEMA.removesuffix(", _punctuation STRING")}, ORDERED BY (at))
      USING parquet LOCATION '{auctions.bid}' OPTIONS (maxFilesPerTrigger 1);
    {BAND};"""
    with duckdb.connect() as database, spark_session(workload.memory) as spark:
        database.execute(f"CREATE VIEW auction AS FROM '{auctions.auction}/*.parquet'")
        database.execute(f"CREATE VIEW bid AS FROM '{auctions.bid}/*.parquet'")
        session = caesura.Session(spark)
        folder = DIRECTORY / "band"
        _save(session, pipeline, folder)
        rows = f"(SELECT id, bidder, price, bid_time FROM read_parquet('{folder}/**/*.parquet'))"
        if _differ(database, rows, f"({BAND})"):
            sys.exit("Caesura does not give DuckDB's rows of the band")
        run = run_to_end(session, pipeline, DIRECTORY / "scratch")
        answers = [
            Answer("DuckDB", _count(database, f"({BAND})"), None),
            Answer("Caesura", run.rows_out, run.slices[-1].state_rows),
        ]
        for watermark in ("opened", "expires"):
            _stream(spark, AUCTION_SCHEMA, auctions.auction, watermark).createOrReplaceTempView("auction")
            bid = _stream(spark, BID_SCHEMA, auctions.bid, "at").where("_punctuation IS NULL")
            bid.createOrReplaceTempView("bid")
            slices = _run(spark.sql(BAND), None)
            answers.append(
                Answer(
                    f"Spark stream join, watermarks on {watermark} and at",
                    sum(slice_.sink.numOutputRows for slice_ in slices),
                    slices[-1].stateOperators[-1].numRowsTotal,
                )
            )
    return answers


def _stream(spark: SparkSession, schema: str, folder: Path, time: str) -> DataFrame:
    """One file per micro-batch, its watermark right behind the newest row."""
    files = spark.readStream.option("maxFilesPerTrigger", 1).schema(schema).parquet(str(folder))
    return files.withWatermark(time, "0 seconds")


def _run(query: DataFrame, folder: Path | None) -> list[StreamingQueryProgress]:
    """To the end of the files; rows go to a folder, or are only counted."""
    scratch = DIRECTORY / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    return run_stream(query, scratch, folder)


def _save(session: caesura.Session, pipeline: str, folder: Path) -> None:
    scratch = DIRECTORY / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    query = session.sql(pipeline).start(
        format="parquet", path=str(folder), checkpoint=str(scratch), until_end=True
    )
    query.awaitTermination()


def _count(database: duckdb.DuckDBPyConnection, rows: str) -> int:
    [(count,)] = database.execute(f"SELECT count(*) FROM {rows}").fetchall()
    return int(count)


def _differ(database: duckdb.DuckDBPyConnection, one: str, other: str) -> bool:
    both = ((one, other), (other, one))
    return any(_count(database, f"(FROM {rows} EXCEPT ALL FROM {others})") for rows, others in both)


# What came of it


def targets(ours: Result, theirs: Result, answers: list[Answer]) -> list[Target]:
    wanted, found, *_ = answers
    return [
        at_least("window join, rows/s / Spark stream join", ours.rate / theirs.rate, 3),
        at_most("rows of the band that are not DuckDB's or are missing", abs(found.rows - wanted.rows), 0),
    ]


def tables(ours: Result, theirs: Result, answers: list[Answer]) -> list[Table]:
    joins = Table(
        ("window join", "rows/s", "seconds", "state rows", "most", "rows out"),
        tuple(
            (
                result.name,
                f"{result.rate:,.0f}",
                f"{result.seconds:.1f}",
                f"{result.state_rows:,}",
                f"{result.peak_state_rows:,}",
                f"{result.rows_out:,}",
            )
            for result in (ours, theirs)
        ),
    )
    band = Table(
        ("auctions' band", "rows", "lost", "state rows"),
        tuple(
            (
                each.name,
                f"{each.rows:,}",
                f"{answers[0].rows - each.rows:,}",
                "" if each.state_rows is None else f"{each.state_rows:,}",
            )
            for each in answers
        ),
    )
    return [joins, band, target_table(targets(ours, theirs, answers))]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.windowed", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="of the streams' own time (default: %(default)s)")
    parser.add_argument("--rate", type=int, default=50_000, help="rows a second of each (default: %(default)s)")
    parser.add_argument("--slices", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.windowed --seconds {options.seconds} --rate {options.rate} --slices {options.slices}"
        f" --rounds {options.rounds} --memory {options.memory}",
        f"duckdb {duckdb.__version__}",
    )
    print("writing the streams …", flush=True)
    workload = isolated(prepare, options)
    print("comparing results …", flush=True)
    compared = isolated(same_results, workload)
    answers = isolated(bands, workload)
    systems: tuple[Callable[[Workload], Result], ...] = (caesura_join, spark_join)
    rounds: list[list[Result]] = []
    for number in range(options.rounds):
        print(f"round {number + 1} …", flush=True)
        rounds.append([isolated(system, workload) for system in systems])
        if len({result.rows_out for result in rounds[-1]}) != 1:
            sys.exit(f"not the same number of rows: {[result.rows_out for result in rounds[-1]]}")
    ours, theirs = (median(list(each)) for each in zip(*rounds, strict=True))
    parts: list[str | Table] = [
        "# A window join, and a band",
        f"```sql{WINDOWED}```",
        f"```sql{BAND}```",
        facts(about),
        *tables(ours, theirs, answers),
        HOW,
    ]
    data = {
        "about": about,
        "rows compared": compared,
        "band": [asdict(each) for each in answers],
        "runs": [[asdict(result) for result in each] for each in rounds],
    }
    return publish("windowed", parts, targets(ours, theirs, answers), data)


if __name__ == "__main__":
    sys.exit(main())
