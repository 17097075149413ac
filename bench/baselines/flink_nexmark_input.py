"""NEXMark's streams as Flink can read them.

Flink is given csv of only the columns that a query names, as its PyPI package has no parquet. Times are written
out; milliseconds since 1970 were tried, and read no faster.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from bench.baselines.nexmark import streams_of, text
from bench.nexmark_streams import Workload
from bench.session import CORES

SIDE_INPUT = "side_input"
ROWS_PER_FILE = 200_000
"""A reader of Flink takes one file after the other, in any order, and its watermark never goes back: with files so
large every reader has taken one before any is at its end. A stream that is smaller is one file."""


@contextmanager
def csv(workload: Workload, query: str) -> Iterator[None]:
    """What the query reads: the rows of each stream in their order, in as many files as there are readers. To warm
    up one slice is enough, as Flink has counted all rows before."""
    slices = {workload.streams: None, workload.warm_up: 1, workload.sample: None}
    for streams, first in slices.items():
        for stream, columns in columns_of(streams, query).items():
            files = sorted((streams / stream).glob("*.parquet"))[:first]
            _write_csv(files, csv_folder(streams, query) / stream, columns)
        if SIDE_INPUT in words(query):
            shutil.copytree(streams / SIDE_INPUT, csv_folder(streams, query) / SIDE_INPUT)
    try:
        yield
    finally:
        for streams in slices:
            shutil.rmtree(csv_folder(streams, query))


def csv_folder(streams: Path, query: str) -> Path:
    return streams / "csv" / query


def columns_of(streams: Path, query: str) -> dict[str, tuple[str, ...]]:
    """The streams that a query reads, with the columns that it names."""
    named = words(query)
    with duckdb.connect() as database:
        found = {
            stream: database.execute(f"SELECT * FROM '{streams / stream}/*.parquet' LIMIT 0").description
            for stream in streams_of(query)
        }
    return {
        stream: tuple(name for name, *_ in columns or () if name in named) for stream, columns in found.items()
    }


def words(query: str) -> frozenset[str]:
    """Those of its text, and the time that another is made of."""
    found = frozenset(re.findall(r"\w+", text(query, "flink")))
    return found | {"date_time"} if "row_time" in found else found


def _write_csv(parquet: Sequence[Path], csv: Path, columns: tuple[str, ...]) -> None:
    csv.mkdir(parents=True)
    rows = f"read_parquet({[*map(str, parquet)]}, file_row_number = true) WHERE _punctuation IS NULL"
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        [(count,)] = database.execute(f"SELECT count(*) FROM {rows}").fetchall()
        parts = CORES if count >= CORES * ROWS_PER_FILE else 1
        for part in range(parts):
            database.execute(
                f"COPY (SELECT {', '.join(columns)} FROM {rows} AND file_row_number % {parts} = {part})"
                f" TO '{csv / str(part)}.csv' (HEADER false, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%f')"
            )
