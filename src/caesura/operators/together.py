"""Jobs that do not need each other. Most of the time of a small one Spark neither plans nor computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark.sql import SparkSession

_MOST = 8
T = TypeVar("T")
R = TypeVar("R")


def workers(spark: SparkSession, most: int | None = None) -> ThreadPoolExecutor:
    """Threads whose jobs have the properties of this one's: the tags by which they are cancelled with it, the
    place they are called from, which Spark need not look for, and settings that tasks are to know."""
    context = spark.sparkContext._jsc.sc()
    properties = context.getLocalProperties().clone()  # as they are now, and not in the middle of a later job

    def alike() -> None:
        context.setLocalProperties(properties.clone())

    return ThreadPoolExecutor(most, initializer=alike)


def side_by_side(spark: SparkSession, do: Callable[[T], R], each: Iterable[T]) -> list[R]:
    """What `do` gives for each, in their order."""
    several = list(each)
    if len(several) < 2:
        return [do(one) for one in several]
    with workers(spark, min(len(several), _MOST)) as pool:
        return list(pool.map(do, several))
