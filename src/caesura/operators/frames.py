"""DataFrames that may be known to be empty.

The driver learns from counts which tables hold nothing. `None` stands for such a table, so that a term that
cannot give a row is left out of the plan instead of being executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import DataFrame

Frame = DataFrame | None


def union(frames: Iterable[Frame]) -> Frame:
    """All rows of the tables that hold any, matched by column name; a column that one lacks is NULL there."""
    present = [frame for frame in frames if frame is not None]
    if not present:
        return None
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), present)


def quote(name: str) -> str:
    """A column name as one Spark SQL identifier: plan names contain dots."""
    return "`" + name.replace("`", "``") + "`"


def only(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """These columns of the frame, in this order."""
    return frame.select([quote(name) for name in names])


def rename(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """The columns of `names`, each under its new name; the others are dropped."""
    return frame.selectExpr(*(f"{quote(old)} AS {quote(new)}" for old, new in names.items()))
