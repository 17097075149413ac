"""The systems that join the auction streams, by the name the command line knows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

from bench.baselines.flink import flink_join
from bench.baselines.spark_batch import spark_batch_join
from bench.baselines.spark_stream import spark_join_in_memory, spark_join_rocksdb
from bench.result import Result
from bench.workload import Workload

P = ParamSpec("P")
T = TypeVar("T")


def caesura_join(workload: Workload) -> Result:
    """Caesura, on the same session as the other Spark systems.

    To be written with the pipeline runner, in the manner of `spark_stream._spark_join`:

    - `with spark_session(workload.memory) as spark:` and nothing else in the settings;
    - declare `auction` with UNIQUE (id) and `bid` with PUNCTUATED BY (auction) over `streams.auction` and
      `streams.bid` (parquet, maxFilesPerTrigger 1, punctuation column `_punctuation`), join them with `QUERY`,
      send the rows to noop and let the query run until the inputs are exhausted;
    - run `workload.warm_up` first, then time `workload.streams`, each with `workload.scratch()` as checkpoint;
    - `seconds` is the wall clock of the whole timed run; `slice_seconds`, `rows_out` and the state rows after
      each slice come from the progress of the query, not from extra jobs. `peak_state_rows` is what counts:
      every auction is closed by the end, so `state_rows` should be almost nothing.
    """
    raise NotImplementedError("bench.systems.caesura_join waits for the pipeline runner")


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
