"""Caesura on NEXMark's streams: the queries are those of examples/nexmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import caesura
from bench.baselines.nexmark import WRITTEN, streams_of
from bench.nexmark_streams import Answer, Refused, Results, Workload
from bench.result import Result
from bench.run import by_caesura, run_to_end

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "nexmark"


def caesura_query(workload: Workload, query: str) -> Answer | Refused:
    results: Results = "updated" if "EMIT CHANGES" in example(query) else "final"
    try:
        return Answer(caesura_queries(workload, [query]), results)
    except caesura.CaesuraError as error:
        return Refused(str(error).splitlines()[0])


def caesura_queries(workload: Workload, queries: Sequence[str]) -> Result:
    """Several queries as one pipeline. Its events are those of all streams that it reads."""
    read = {stream for query in queries for stream in streams_of(query)}
    events = sum(workload.rows[stream] for stream in read)

    def run(session: caesura.Session, streams: Path) -> Result:
        found = run_to_end(session, pipeline(workload, queries, streams), workload.scratch())
        result = found.result(events, found.slices[-1])
        return replace(result, seconds=found.since_first_event)

    return by_caesura(run, workload.warm_up, workload.streams, workload.memory, workload.seconds)


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
