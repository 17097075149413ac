"""Caesura on NEXMark's streams: the queries are those of examples/nexmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import caesura
from bench.baselines.nexmark import PARTITIONED_BY, STREAMS
from bench.nexmark_streams import Answer, Refused, Workload
from bench.result import Result
from bench.run import by_caesura, run_to_end

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "nexmark"


def caesura_query(workload: Workload, query: str) -> Answer | Refused:
    text = (EXAMPLES / f"{query}.sql").read_text()
    results = "updated" if "EMIT CHANGES" in text else "final"

    def run(session: caesura.Session, streams: Path) -> Result:
        return _run(session, workload, placed(text, workload, streams), workload.events(query))

    try:
        return Answer(by_caesura(run, workload.warm_up, workload.streams, workload.memory, workload.seconds), results)
    except caesura.CaesuraError as error:
        return Refused(str(error).splitlines()[0])
