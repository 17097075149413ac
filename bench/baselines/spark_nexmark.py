"""Spark's own streaming queries on NEXMark's streams, those that it accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter

from pyspark.errors import AnalysisException
from pyspark.sql.streaming.listener import StreamingQueryProgress

from bench.baselines.nexmark import WRITTEN, streams_of, text
from bench.nexmark_found import Answer, Refused, Results, Timed
from bench.nexmark_streams import Workload
from bench.result import Result
from bench.session import lasting_session, rest
from bench.workload import warm_up

MODES: dict[str, Results] = {"append": "final", "update": "updated"}
"""How results come out, the better way first."""


def warm_spark(workload: Workload, query: str) -> Timed | Refused:
    reasons = []
    for mode in MODES:
        run = partial(_run, workload, query, mode, workload.warm_up)
        begin = perf_counter()
        try:
            run()
        except AnalysisException as error:
            reasons.append(_reason(error))
        else:
            warm_up(run, workload.seconds - (perf_counter() - begin), workload.runs - 1)
            return partial(_timed, workload, query, mode)
    return Refused(reasons[-1])


def _timed(workload: Workload, query: str, mode: str) -> Answer:
    result = _result(workload.events(query), _run(workload, query, mode, workload.streams))
    if query in WRITTEN:  # Spark does not count what it writes to files
        spark = lasting_session(workload.memory)
        result = replace(result, rows_out=spark.read.csv(str(workload.written)).count())
    return Answer(result, MODES[mode])


def _reason(error: AnalysisException) -> str:
    """The first line of what it says, without the plan."""
    return (error.getMessage() or str(error)).split("\n")[0].split(";")[0]


def _run(workload: Workload, query: str, mode: str, streams: Path) -> list[StreamingQueryProgress]:
    """To the end of the files, one of each stream per micro-batch."""
    spark = lasting_session(workload.memory)
    for stream in streams_of(query):
        files = spark.readStream.option("maxFilesPerTrigger", 1)
        rows = files.schema(spark.read.parquet(str(streams / stream)).schema).parquet(str(streams / stream))
        events = rows.where("_punctuation IS NULL").drop("_punctuation").withWatermark("date_time", "0 seconds")
        events.createOrReplaceTempView(stream)
    side = spark.read.schema("key BIGINT, value STRING").csv(str(streams / "side_input"))
    side.createOrReplaceTempView("side_input")
    writer = spark.sql(text(query, "spark")).writeStream.outputMode(mode).trigger(availableNow=True)
    if query in WRITTEN:
        writer = writer.format("csv").option("path", str(workload.written))
    else:
        writer = writer.format("noop")
    running = writer.option("checkpointLocation", str(workload.scratch("spark"))).start()
    running.awaitTermination()
    rest(spark)
    return list(running.recentProgress)


def _result(events: int, slices: Sequence[StreamingQueryProgress]) -> Result:
    """From the beginning of the first slice to the end of the last."""
    states = [sum(operator.numRowsTotal for operator in slice_.stateOperators) for slice_ in slices]
    begin, last = (datetime.fromisoformat(slices[place].timestamp) for place in (0, -1))
    took = [slice_.durationMs["triggerExecution"] / 1000 for slice_ in slices]
    return Result(
        name="Spark",
        events=events,
        seconds=(last - begin).total_seconds() + took[-1],
        rows_out=sum(max(slice_.sink.numOutputRows, 0) for slice_ in slices),
        state_rows=states[-1],
        peak_state_rows=max(states),
        slice_seconds=tuple(took),
    )
