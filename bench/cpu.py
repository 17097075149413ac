"""The CPU time of tasks, which Spark counts for each stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")

RETAINED = 20_000
SETTINGS = {"spark.ui.retainedStages": str(RETAINED), "spark.ui.retainedJobs": str(RETAINED)}
"""No run has as many stages: those of a run are all there when it ends."""


def cpu_of(spark: SparkSession, run: Callable[[], T]) -> tuple[T, float]:
    """What a run gives, and the seconds of CPU that its tasks took. The session is started with `SETTINGS`."""
    before = max((stage.stageId() for stage in _stages(spark)), default=-1)
    found = run()
    own = list(takewhile(lambda stage: stage.stageId() > before, _stages(spark)))
    if len(own) >= RETAINED:
        raise RuntimeError(f"more than {RETAINED:,} stages: some of their times are lost")
    return found, sum(stage.executorCpuTime() for stage in own) / 1e9


def _stages(spark: SparkSession) -> Iterator[Any]:
    """The newest first."""
    context = spark.sparkContext
    scala: Any = context._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    gateway: Any = context._gateway
    no_quantiles = gateway.new_array(gateway.jvm.double, 0)
    stages = scala.statusStore().stageList(None, False, False, no_quantiles, None).iterator()
    while stages.hasNext():
        yield stages.next()
