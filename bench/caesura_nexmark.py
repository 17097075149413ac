"""Caesura on NEXMark's streams: the queries are those of examples/nexmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import caesura
from bench.baselines.nexmark import WRITTEN, streams_of
from bench.nexmark_found import Answer, Refused, Timed
from bench.nexmark_streams import Workload
from bench.run import run_to_end
from bench.session import lasting_session, rest
from bench.workload import warm_up

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "nexmark"


class FailedSliceError(Exception):
    """With the cause, which the text of the error leaves to whoever renders its diagnostics."""

    def __init__(self, error: caesura.CaesuraError) -> None:
        super().__init__("; ".join(text for each in error.diagnostics for text in (each.message, *each.because)))


def warm_caesura(workload: Workload, query: str) -> Timed | Refused:
    try:
        caesura.Session().sql(pipeline(workload, [query], workload.streams)).require_safe()
    except caesura.CaesuraError as error:
        return Refused(str(error).splitlines()[0])
    warm_up(partial(_run, workload, [query], workload.warm_up), workload.seconds, workload.runs)
    return partial(_run, workload, [query], workload.streams)


def warm_caesura_pipeline(workload: Workload, queries: Sequence[str]) -> Timed:
    """Several queries as one pipeline. Each has been run before, so that one run is enough."""
    _run(workload, queries, workload.warm_up)
    return partial(_run, workload, queries, workload.streams)


def _run(workload: Workload, queries: Sequence[str], streams: Path) -> Answer:
    """Its events are those of all streams that it reads."""
    spark = lasting_session(workload.memory)
    text = pipeline(workload, queries, streams)
    try:
        found = run_to_end(caesura.Session(spark), text, workload.scratch("caesura"))
    except caesura.CaesuraError as error:
        raise FailedSliceError(error) from error
    rest(spark)
    read = {stream for query in queries for stream in streams_of(query)}
    result = found.result(sum(workload.rows[stream] for stream in read), found.slices[-1])
    return Answer(
        replace(result, seconds=found.since_first_event),
        "updated" if any("EMIT CHANGES" in example(query) for query in queries) else "final",
        tuple(each.phases for each in found.progress),
    )


def example(query: str) -> str:
    return (EXAMPLES / f"{query}.sql").read_text()


def pipeline(workload: Workload, queries: Sequence[str], streams: Path) -> str:
    """The examples over these streams; what several declare alike is declared once."""
    statements = (statement for query in queries for statement in _placed(workload, query, streams))
    return "".join(f"{statement};\n" for statement in dict.fromkeys(statements))


def _placed(workload: Workload, query: str, streams: Path) -> list[str]:
    """The statements of an example, with other places for its data and its results."""
    text = re.sub(r"--.*", "", example(query)).replace("LOCATION 'data/", f"LOCATION '{streams}/")
    if query in WRITTEN:
        text = re.sub(r"LOCATION 'out/[^']*'", f"LOCATION '{workload.written}'", text)
    else:
        text = re.sub(r"CREATE SINK (\w+)[^;]*", r"CREATE SINK \1 USING noop", text)
    return [statement.strip() for statement in text.split(";") if statement.strip()]
