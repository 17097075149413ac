"""The systems that join the auction streams, by the name the command line knows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

from bench.baselines.flink import flink_join
from bench.baselines.spark_batch import spark_batch_join
from bench.baselines.spark_stream import spark_join_in_memory, spark_join_rocksdb
from bench.caesura_join import caesura_join
from bench.result import Result
from bench.workload import Workload

P = ParamSpec("P")
T = TypeVar("T")


SYSTEMS: dict[str, Callable[[Workload], Result]] = {
    "caesura": caesura_join,
    "spark": spark_join_in_memory,
    "spark-rocksdb": spark_join_rocksdb,
    "flink": flink_join,
    "batch": spark_batch_join,
}

BY_DEFAULT = ("caesura", "spark", "flink", "batch")
"""Without `spark-rocksdb`, the slower of the two state stores: `--systems spark spark-rocksdb` compares them."""


def isolated(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call it in a process of its own, so that no system inherits the JVM, heap or caches of another."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()
