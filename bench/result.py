"""What one run of one system gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

WARM_AFTER = 2
"""Slices before the first whose time is called warm: state has reached its size and the JVM its speed."""


@dataclass(frozen=True)
class Result:
    name: str
    events: int  # rows of both streams, without punctuations: the same rows for every system
    seconds: float  # the whole timed run, all slices
    rows_out: int
    state_rows: int  # at the end
    slice_seconds: tuple[float, ...]  # empty for a system that does not work in slices
    peak_state_rows: int  # the most at the end of any slice
    state_bytes: int | None = None
    source_seconds: float | None = None  # a run that only reads the input, where that was measured

    @property
    def rate(self) -> float:
        return self.events / self.seconds

    @property
    def seconds_per_slice(self) -> float:
        """Of all that a slice takes, what the engine does around it included."""
        return self.seconds / len(self.slice_seconds)

    @property
    def slowdown(self) -> float | None:
        """The last slice's time over the first warm slice's."""
        warm = self.slice_seconds[WARM_AFTER:]
        return warm[-1] / warm[0] if len(warm) > 1 else None


class Timed(Protocol):
    @property
    def seconds(self) -> float: ...


T = TypeVar("T", bound=Timed)


def median(runs: list[T]) -> T:
    """The run with the median time, as it was: its figures belong together."""
    return sorted(runs, key=lambda run: run.seconds)[(len(runs) - 1) // 2]
