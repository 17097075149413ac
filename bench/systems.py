"""The systems that join the auction streams, by the name the command line knows."""

from __future__ import annotations

from collections.abc import Callable

from bench.baselines.flink_auction import flink_join
from bench.baselines.spark_batch import spark_batch_join
from bench.baselines.spark_stream import spark_join_in_memory, spark_join_rocksdb
from bench.caesura_join import caesura_join
from bench.result import Result
from bench.workload import Workload

SYSTEMS: dict[str, Callable[[Workload], Result]] = {
    "caesura": caesura_join,
    "spark": spark_join_in_memory,
    "spark-rocksdb": spark_join_rocksdb,
    "flink": flink_join,
    "batch": spark_batch_join,
}

BY_DEFAULT = ("caesura", "spark", "flink", "batch")
"""Without `spark-rocksdb`, the slower of the two state stores: `--systems spark spark-rocksdb` compares them."""
