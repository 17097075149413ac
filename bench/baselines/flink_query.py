"""Run inside Flink's environment: answers questions about a continuous query over csv directories.

Takes a JSON object in each line, and answers each with one: what was asked for, why Flink has no plan for the
query, or why its job failed. All jobs share a JVM, which is as warm as the questions before have made it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyflink.common import Configuration
from pyflink.java_gateway import get_gateway
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
    directory: str
    parallelism: int


def tables(job: Job, settings: dict[str, str]) -> TableEnvironment:
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
        environment.execute_sql(SOURCE.format(name=name, columns=columns, directory=job.directory))
    return environment


def into(environment: TableEnvironment, tables: Iterable[Table], sink: dict[str, str]) -> StatementSet:
    statements = environment.create_statement_set()
    for table in tables:
        statements.add_insert(descriptor(sink), table)
    return statements


def descriptor(options: dict[str, str]) -> TableDescriptor:
    """A table with the columns of whatever is written to it."""
    builder = TableDescriptor.for_connector(options["connector"])
    for key, value in options.items():
        if key != "connector":
            builder = builder.option(key, value)
    return builder.build()


def continuous(job: Job) -> StatementSet:
    environment = tables(job, {})
    return into(environment, [environment.sql_query(job.query)], job.sink)


def seconds_of(statements: StatementSet) -> float:
    """The runtime of one job, as Flink reports it."""
    finished = statements.execute().get_job_client().get_job_execution_result().result()
    return float(finished.get_net_runtime()) / 1000


# What may be asked


def planned_changes(job: Job) -> list[str]:
    """What the plan says that the sink is given: `I` inserts, `UB`, `UA` updates, `D` deletes."""
    plan = continuous(job).explain(ExplainDetail.CHANGELOG_MODE)
    found: str = re.findall(r"Sink\(.*\n.*changelogMode=\[([A-Z,]+)\]", plan)[0]
    return found.split(",")


def seen_changes(job: Job) -> list[str]:
    """What does come out: a plan may say inserts alone (q9 of NEXMark does), and there are updates."""
    with tables(job, {}).execute_sql(job.query).collect() as rows:
        return sorted({KINDS[str(row.get_row_kind())] for row in rows})


def count(job: Job) -> int:
    """The rows of the result when all has been read, those that were taken back not among them."""
    count = 0
    with tables(job, MINI_BATCHES).execute_sql(f"SELECT COUNT(*) FROM ({job.query})").collect() as updates:
        for update in updates:
            count = update[0]
    return count


def run(job: Job) -> float:
    """Seconds of the query."""
    return seconds_of(continuous(job))


def read(job: Job) -> float:
    """Seconds of a job that only reads."""
    environment = tables(job, {})
    return seconds_of(into(environment, map(environment.from_path, job.sources), BLACKHOLE))


QUESTIONS: dict[str, Callable[[Job], object]] = {
    "planned changes": planned_changes,
    "seen changes": seen_changes,
    "count": count,
    "run": run,
    "read": read,
}


def answer(question: str, job: Job) -> dict[str, object]:
    """Jobs that fail may raise what planning does: whether there is a plan, only the plan is asked."""
    try:
        return {"answer": QUESTIONS[question](job)}
    except TableException as error:
        reason = str(error).splitlines()[0].split(": ", 1)[-1]
        return {"refused" if question == "planned changes" else "failed": reason}
    except Py4JJavaError as error:
        return {"failed": cause(error)}


def cause(error: Py4JJavaError) -> str:
    """The innermost: those around it say only that a job has failed."""
    found = error.java_exception
    while (inner := found.getCause()) is not None:
        found = inner
    return str(found.toString())


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the JVM prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        answered = answer(asked["question"], Job(**asked["job"]))
        get_gateway().jvm.System.gc()  # before another system's turn
        print(json.dumps(answered), file=answers)


if __name__ == "__main__":
    main()
