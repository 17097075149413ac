"""Flink SQL on NEXMark's streams.

Flink is given csv of only the columns that a query names, as its PyPI package has no parquet. Times are written
out; milliseconds since 1970 were tried, and read no faster.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb

from bench.baselines.flink import DISCARD, FlinkQuery, FlinkRefusesError
from bench.baselines.flink_state import state_of
from bench.baselines.nexmark import WRITTEN, streams_of, text
from bench.nexmark_streams import Answer, Refused, Workload
from bench.result import Result
from bench.session import CORES

TYPES = {"id": "BIGINT NOT NULL", "date_time": "TIMESTAMP(6)", "expires": "TIMESTAMP(6)"} | dict.fromkeys(
    ("initial_bid", "reserve", "seller", "category", "auction", "bidder", "price"), "BIGINT"
)
"""All other columns are STRING."""
TIMES = {
    "row_time": (
        "row_time AS CAST(date_time AS TIMESTAMP(3))",  # no finer time has a watermark
        "WATERMARK FOR row_time AS row_time",  # no delay: the streams are ordered
    ),
}
"""What a stream has besides its columns, if a query names it."""
OTHER_SOURCES = {
    "q13": {
        "side_input": "key BIGINT, `value` STRING, since AS CAST(TIMESTAMP '1970-01-01 00:00:00' AS TIMESTAMP(3)),"
        " WATERMARK FOR since AS since, PRIMARY KEY (key) NOT ENFORCED"
    }
}
"""Files cannot be looked up in, so this is a table with versions, of which there is one. A join without time, that
keeps all bids, was tried, and was slower."""
ROWS_PER_FILE = 200_000
"""A reader of Flink takes one file after the other, in any order, and its watermark never goes back: with files so
large every reader has taken one before any is at its end. A stream that is smaller is one file."""


def flink_query(workload: Workload, query: str) -> Answer | Refused:
    read = columns_of(workload.streams, query)
    sources = {stream: _source(query, columns) for stream, columns in read.items()} | OTHER_SOURCES.get(query, {})
    sink = {"connector": "filesystem", "format": "csv", "path": str(workload.written)}
    asked = FlinkQuery(
        sources,
        text(query, "flink"),
        sink if query in WRITTEN else DISCARD,
    )
    streams, warm_up, sample = (folder / "csv" / query for folder in workload.folders)
    try:
        measured = asked.run(
            streams, warm_up, memory=workload.memory, warm_up_seconds=workload.seconds, sample=sample
        )
    except FlinkRefusesError as error:
        return Refused(str(error))
    at_end, most = state_of(query, workload.streams)
    result = Result(
        name="Flink SQL",
        events=workload.events(query),
        seconds=measured["seconds"],
        rows_out=measured["rows_out"],
        state_rows=at_end,
        peak_state_rows=most,
        slice_seconds=(),
        source_seconds=measured["source_seconds"],
    )
    changes = {*measured["planned_changes"], *measured["seen_changes"]}
    return Answer(result, "final" if changes == {"I"} else "retracted")


def columns_of(streams: Path, query: str) -> dict[str, tuple[str, ...]]:
    """The streams that a query reads, with the columns that it names."""
    words = _words(query)
    with duckdb.connect() as database:
        found = {
            stream: database.execute(f"SELECT * FROM '{streams / stream}/*.parquet' LIMIT 0").description
            for stream in streams_of(query)
        }
    return {
        stream: tuple(name for name, *_ in columns or () if name in words) for stream, columns in found.items()
    }


def write_csv(workload: Workload, query: str) -> None:
    """What the query reads: the rows of each stream in their order, in as many files as there are readers."""
    for streams in workload.folders:
        directory = streams / "csv" / query
        for stream, columns in columns_of(streams, query).items():
            _write_csv(streams / stream, directory / stream, columns)
        for table in OTHER_SOURCES.get(query, {}):
            shutil.copytree(streams / table, directory / table)


def remove_csv(workload: Workload, query: str) -> None:
    for streams in workload.folders:
        shutil.rmtree(streams / "csv" / query)


def _source(query: str, columns: tuple[str, ...]) -> str:
    """Flink is told the keys: it keeps one row per key then, and looks it up sooner."""
    declared = [f"{column} {TYPES.get(column, 'STRING')}" for column in columns]
    if "id" in columns:
        declared.append("PRIMARY KEY (id) NOT ENFORCED")
    declared += [part for name, parts in TIMES.items() if name in _words(query) for part in parts]
    return ", ".join(declared)


def _words(query: str) -> frozenset[str]:
    words = frozenset(re.findall(r"\w+", text(query, "flink")))
    return words | {"date_time"} if "row_time" in words else words


def _write_csv(parquet: Path, csv: Path, columns: tuple[str, ...]) -> None:
    csv.mkdir(parents=True)
    files = sorted(map(str, parquet.glob("*.parquet")))
    rows = f"read_parquet({files}, file_row_number = true) WHERE _punctuation IS NULL"
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        [(count,)] = database.execute(f"SELECT count(*) FROM {rows}").fetchall()
        parts = CORES if count >= CORES * ROWS_PER_FILE else 1
        for part in range(parts):
            database.execute(
                f"COPY (SELECT {', '.join(columns)} FROM {rows} AND file_row_number % {parts} = {part})"
                f" TO '{csv / str(part)}.csv' (HEADER false, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%f')"
            )
