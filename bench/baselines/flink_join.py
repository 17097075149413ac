"""Run inside Flink's environment: the continuous join of two csv directories, and a run that only reads them.

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

TABLES = """
CREATE TABLE auction (id BIGINT, category INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}/auction');
CREATE TABLE bid (auction BIGINT, price DOUBLE, bidder BIGINT)
  WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}/bid');
CREATE TABLE joined (id BIGINT, category INT, price DOUBLE, bidder BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE auctions_read (id BIGINT, category INT) WITH ('connector' = 'blackhole');
CREATE TABLE bids_read (auction BIGINT, price DOUBLE, bidder BIGINT) WITH ('connector' = 'blackhole')
"""
READ = ("INSERT INTO auctions_read SELECT * FROM auction", "INSERT INTO bids_read SELECT * FROM bid")

# For the counting run: an update of the count per 100,000 joined rows, not one per row. The timed runs leave
# mini-batches off, which is Flink's default.
MINI_BATCHES = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "10 s",
    "table.exec.mini-batch.size": "100000",
}


class Job(NamedTuple):
    query: str
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
    for statement in TABLES.format(directory=directory).split(";"):
        environment.execute_sql(statement)
    return environment


def seconds_of(environment: TableEnvironment, *inserts: str) -> float:
    """The runtime of one job, as Flink reports it."""
    statements = environment.create_statement_set()
    for insert in inserts:
        statements.add_insert_sql(insert)
    finished = statements.execute().get_job_client().get_job_execution_result().result()
    return float(finished.get_net_runtime()) / 1000


def count_of(environment: TableEnvironment, query: str) -> int:
    count = 0
    with environment.execute_sql(f"SELECT COUNT(price) FROM ({query})").collect() as updates:
        for update in updates:
            count = update[0]
    return count


def main(job: Job) -> dict[str, float]:
    join = f"INSERT INTO joined {job.query}"
    rows_out = count_of(tables(job, job.streams, MINI_BATCHES), job.query)
    end = perf_counter() + job.warm_up_seconds
    while perf_counter() < end:
        seconds_of(tables(job, job.warm_up, {}), join)
    environment = tables(job, job.streams, {})
    return {
        "rows_out": rows_out,
        "seconds": seconds_of(environment, join),
        "source_seconds": seconds_of(environment, *READ),
    }


if __name__ == "__main__":
    print(json.dumps(main(Job(**json.loads(sys.argv[1])))))
