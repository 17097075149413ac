"""Run inside Flink's environment: a continuous join of csv directories, and a run that only reads them.

Takes one JSON argument, prints one JSON line. All runs share a JVM: a counting run over the whole input, joins
of the warm-up input, and only then the timed ones.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import NamedTuple

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

SOURCE = """CREATE TABLE {name} ({columns})
  WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}/{name}')"""
ONLY_READ = "CREATE TABLE {name}_read WITH ('connector' = 'blackhole') LIKE {name} (EXCLUDING ALL)"
RESULT = "CREATE TABLE joined ({columns}) WITH ('connector' = 'blackhole')"

# For the counting run: an update of the count per 100,000 joined rows, not one per row. The timed runs leave
# mini-batches off, which is Flink's default.
MINI_BATCHES = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "10 s",
    "table.exec.mini-batch.size": "100000",
}


class Job(NamedTuple):
    sources: dict[str, str]  # the columns of each, which is also the name of its folder
    query: str
    result: str  # the columns of the result
    counted: str  # one of them, that is never NULL
    streams: str
    warm_up: str
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
        **settings,
    }.items():
        configuration.set_string(key, value)
    streaming = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    environment = TableEnvironment.create(streaming)
    for name, columns in job.sources.items():
        environment.execute_sql(SOURCE.format(name=name, columns=columns, directory=directory))
        environment.execute_sql(ONLY_READ.format(name=name))
    environment.execute_sql(RESULT.format(columns=job.result))
    return environment


def seconds_of(environment: TableEnvironment, *inserts: str) -> float:
    """The runtime of one job, as Flink reports it."""
    statements = environment.create_statement_set()
    for insert in inserts:
        statements.add_insert_sql(insert)
    finished = statements.execute().get_job_client().get_job_execution_result().result()
    return float(finished.get_net_runtime()) / 1000


def count_of(environment: TableEnvironment, job: Job) -> int:
    count = 0
    with environment.execute_sql(f"SELECT COUNT({job.counted}) FROM ({job.query})").collect() as updates:
        for update in updates:
            count = update[0]
    return count


def main(job: Job) -> dict[str, float]:
    join = f"INSERT INTO joined {job.query}"
    rows_out = count_of(tables(job, job.streams, MINI_BATCHES), job)
    end = perf_counter() + job.warm_up_seconds
    while perf_counter() < end:
        seconds_of(tables(job, job.warm_up, {}), join)
    environment = tables(job, job.streams, {})
    return {
        "rows_out": rows_out,
        "seconds": seconds_of(environment, join),
        "source_seconds": seconds_of(
            environment, *(f"INSERT INTO {name}_read SELECT * FROM {name}" for name in job.sources)
        ),
    }


if __name__ == "__main__":
    print(json.dumps(main(Job(**json.loads(sys.argv[1])))))
