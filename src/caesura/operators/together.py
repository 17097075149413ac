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
    """Threads whose jobs have the tags of this one's, and can be cancelled with them.

    The tags come as an array: to iterate over a set of Java ends with an error, which PySpark compares with all
    that it knows, for 24 ms in every thread (decision 0026).
    """
    context = spark.sparkContext
    tags = list(context._jsc.getJobTags().toArray())

    def tagged() -> None:
        for tag in tags:
            context.addJobTag(tag)

    return ThreadPoolExecutor(most, initializer=tagged)


def side_by_side(spark: SparkSession, do: Callable[[T], R], each: Iterable[T]) -> list[R]:
    """What `do` gives for each, in their order."""
    several = list(each)
    if len(several) < 2:
        return [do(one) for one in several]
    with workers(spark, min(len(several), _MOST)) as pool:
        return list(pool.map(do, several))
