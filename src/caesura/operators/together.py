"""Jobs that do not need each other. Most of the time of a small one Spark neither plans nor computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(do: Callable[[T], R], each: Iterable[T]) -> list[R]:
    """What `do` gives for each, in their order."""
    several = list(each)
    if len(several) < 2:
        return [do(one) for one in several]
    with ThreadPoolExecutor(len(several)) as pool:
        return list(pool.map(do, several))
