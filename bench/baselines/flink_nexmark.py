"""Flink SQL on NEXMark's streams."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import perf_counter

from bench.baselines.flink import DISCARD, Flink, FlinkQuery, FlinkRefusesError
from bench.baselines.flink_nexmark_input import SIDE_INPUT, columns_of, csv_folder, words
from bench.baselines.flink_state import state_of
from bench.baselines.nexmark import WRITTEN, text
from bench.nexmark_found import Answer, Refused, Results, Timed
from bench.nexmark_streams import Workload
from bench.result import Result
from bench.workload import warm_up

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
        SIDE_INPUT: "key BIGINT, `value` STRING, since AS CAST(TIMESTAMP '1970-01-01 00:00:00' AS TIMESTAMP(3)),"
        " WATERMARK FOR since AS since, PRIMARY KEY (key) NOT ENFORCED"
    }
}
"""Files cannot be looked up in, so this is a table with versions, of which there is one. A join without time, that
keeps all bids, was tried, and was slower."""


@dataclass(frozen=True)
class Known:
    """What is the same in every run of a query."""

    rows_out: int
    results: Results
    state_rows: int
    peak_state_rows: int
    source_seconds: float


def warm_flink(workload: Workload, query: str) -> Timed | Refused:
    """The count of all results is the first of the runs that warm up."""
    flink, asked = _flink(workload.memory), _asked(workload, query)
    streams = csv_folder(workload.streams, query)
    try:
        changes = flink.changes(asked, csv_folder(workload.sample, query))
    except FlinkRefusesError as error:
        return Refused(str(error))
    begin = perf_counter()
    rows_out = flink.count(asked, streams)
    run = partial(_run, workload, asked, csv_folder(workload.warm_up, query))
    warm_up(run, workload.seconds - (perf_counter() - begin), workload.runs - 1)
    known = Known(
        rows_out,
        "final" if changes == {"I"} else "retracted",
        *state_of(query, workload.streams),
        flink.reading_seconds(asked, streams),
    )
    return partial(_timed, workload, query, known)


def _timed(workload: Workload, query: str, known: Known) -> Answer:
    result = Result(
        name="Flink SQL",
        events=workload.events(query),
        seconds=_run(workload, _asked(workload, query), csv_folder(workload.streams, query)),
        rows_out=known.rows_out,
        state_rows=known.state_rows,
        peak_state_rows=known.peak_state_rows,
        slice_seconds=(),
        source_seconds=known.source_seconds,
    )
    return Answer(result, known.results)


def _run(workload: Workload, asked: FlinkQuery, streams: Path) -> float:
    shutil.rmtree(workload.written, ignore_errors=True)
    return _flink(workload.memory).seconds(asked, streams)


@cache
def _flink(memory: str) -> Flink:
    """The one of this process, with which it ends."""
    return Flink(memory)


def _asked(workload: Workload, query: str) -> FlinkQuery:
    read = columns_of(workload.streams, query)
    sources = {stream: _source(query, columns) for stream, columns in read.items()} | OTHER_SOURCES.get(query, {})
    written = {"connector": "filesystem", "format": "csv", "path": str(workload.written)}
    return FlinkQuery(sources, text(query, "flink"), written if query in WRITTEN else DISCARD)


def _source(query: str, columns: tuple[str, ...]) -> str:
    """Flink is told the keys: it keeps one row per key then, and looks it up sooner."""
    declared = [f"{column} {TYPES.get(column, 'STRING')}" for column in columns]
    if "id" in columns:
        declared.append("PRIMARY KEY (id) NOT ENFORCED")
    declared += [part for name, parts in TIMES.items() if name in words(query) for part in parts]
    return ", ".join(declared)
