"""Run inside Flink's environment: a continuous query over csv directories, and a run that only reads them.

Takes one JSON argument, prints one JSON line: what was measured, or why Flink has no plan. All runs share a
JVM: a counting run over the whole input, runs of the warm-up input, and only then the timed ones.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from time import perf_counter
from typing import NamedTuple

from pyflink.common import Configuration
from pyflink.table import (
    EnvironmentSettings,
    ExplainDetail,
    StatementSet,
    Table,
    TableDescriptor,
    TableEnvironment,
)
from pyflink.util.exceptions import TableException

SOURCE = """CREATE TABLE {name} ({columns})
  WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}/{name}')"""
BLACKHOLE = {"connector": "blackhole"}
KINDS = {"+I": "I", "-U": "UB", "+U": "UA", "-D": "D"}

# For the counting run: an update of the count per 100,000 rows, not one per row. The timed runs leave
# mini-batches off, which is Flink's default.
MINI_BATCHES = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "10 s",
    "table.exec.mini-batch.size": "100000",
}


class Job(NamedTuple):
    sources: dict[str, str]  # the columns of each, which is also the name of its folder
    query: str
    sink: dict[str, str]  # the options of the table that takes the results; it has their columns
    streams: str
    warm_up: str
    sample: str  # a few rows of the same kind, or nothing
    parallelism: int
    warm_up_seconds: int


def tables(job: Job, directory: str, settings: dict[str, str]) -> TableEnvironment:
    configuration = Configuration()
    for key, value in {
        "parallelism.default": str(job.parallelism),
        "taskmanager.numberOfTaskSlots": str(job.parallelism),
        "state.backend.type": "hashmap",
        "pipeline.object-reuse": "true",
        "rest.bind-address": "127.0.0.1",
        "table.local-time-zone": "UTC",
        **settings,
    }.items():
        configuration.set_string(key, value)
    streaming = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    environment = TableEnvironment.create(streaming)
    for name, columns in job.sources.items():
        environment.execute_sql(SOURCE.format(name=name, columns=columns, directory=directory))
    return environment


def into(environment: TableEnvironment, tables: Iterable[Table], sink: TableDescriptor) -> StatementSet:
    statements = environment.create_statement_set()
    for table in tables:
        statements.add_insert(sink, table)
    return statements


def descriptor(options: dict[str, str]) -> TableDescriptor:
    """A table with the columns of whatever is written to it."""
    builder = TableDescriptor.for_connector(options["connector"])
    for key, value in options.items():
        if key != "connector":
            builder = builder.option(key, value)
    return builder.build()


def seconds_of(statements: StatementSet) -> float:
    """The runtime of one job, as Flink reports it."""
    finished = statements.execute().get_job_client().get_job_execution_result().result()
    return float(finished.get_net_runtime()) / 1000


def count_of(environment: TableEnvironment, job: Job) -> int:
    """The rows of the result when all has been read, those that were taken back not among them."""
    count = 0
    with environment.execute_sql(f"SELECT COUNT(*) FROM ({job.query})").collect() as updates:
        for update in updates:
            count = update[0]
    return count


def planned_changes(statements: StatementSet) -> list[str]:
    """What the plan says that the sink is given: `I` inserts, `UB`, `UA` updates, `D` deletes."""
    plan = statements.explain(ExplainDetail.CHANGELOG_MODE)
    found: str = re.findall(r"Sink\(.*\n.*changelogMode=\[([A-Z,]+)\]", plan)[0]
    return found.split(",")


def seen_changes(environment: TableEnvironment, job: Job) -> list[str]:
    """What does come out: a plan may say inserts alone (q9 of NEXMark does), and there are updates."""
    with environment.execute_sql(job.query).collect() as rows:
        return sorted({KINDS[str(row.get_row_kind())] for row in rows})


def main(job: Job) -> dict[str, object]:
    sink = descriptor(job.sink)

    def query(directory: str) -> StatementSet:
        environment = tables(job, directory, {})
        return into(environment, [environment.sql_query(job.query)], sink)

    try:
        planned = planned_changes(query(job.streams))
    except TableException as refused:
        return {"refused": str(refused).splitlines()[0].split(": ", 1)[-1]}
    seen = seen_changes(tables(job, job.sample, {}), job) if job.sample else []
    rows_out = count_of(tables(job, job.streams, MINI_BATCHES), job)
    end = perf_counter() + job.warm_up_seconds
    while perf_counter() < end:
        seconds_of(query(job.warm_up))
    environment = tables(job, job.streams, {})
    read = [environment.from_path(name) for name in job.sources]
    return {
        "rows_out": rows_out,
        "planned_changes": planned,
        "seen_changes": seen,
        "seconds": seconds_of(query(job.streams)),
        "source_seconds": seconds_of(into(environment, read, descriptor(BLACKHOLE))),
    }


if __name__ == "__main__":
    print(json.dumps(main(Job(**json.loads(sys.argv[1])))))
