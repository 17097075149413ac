"""One run of a pipeline on Caesura, slice by slice."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import caesura


@dataclass(frozen=True)
class Run:
    seconds: float
    progress: tuple[caesura.Progress, ...]
    reported: tuple[float, ...]  # when each progress came, in seconds after the start

    @property
    def rows_out(self) -> int:
        return sum(each.rows_out for each in self.progress)

    @property
    def first_result(self) -> float:
        """Seconds after the start."""
        return next(at for each, at in zip(self.progress, self.reported, strict=True) if each.rows_out)

    @cached_property
    def slices(self) -> tuple[caesura.Progress, ...]:
        """Without the one that ends the streams."""
        return tuple(each for each in self.progress if each.rows_in)

    @property
    def slice_seconds(self) -> tuple[float, ...]:
        """Of all that a slice takes, what Spark does around it included."""
        return tuple(later - at for at, later in pairwise((0.0, *self.reported)))[: len(self.slices)]

    @property
    def figures(self) -> dict[str, object]:
        """What is worth keeping."""
        return {
            "seconds": self.seconds,
            "first result": self.first_result,
            "slice seconds": self.slice_seconds,
            "state": [each.state for each in self.slices],
            "phases": [each.phases for each in self.slices],
        }


def run_to_end(
    session: caesura.Session,
    pipeline: str,
    checkpoint: Path,
    *,
    allow_unbounded: bool = False,
    every_rule: bool = False,
) -> Run:
    """Start a pipeline of one SELECT on an empty checkpoint, and wait for its end. Its rows are only counted."""
    shutil.rmtree(checkpoint, ignore_errors=True)
    progress: list[caesura.Progress] = []
    reported: list[float] = []

    def report(each: caesura.Progress) -> None:
        progress.append(each)
        reported.append(perf_counter() - start)

    start = perf_counter()
    query = session.sql(pipeline).start(
        format="noop",
        checkpoint=str(checkpoint),
        until_end=True,
        allow_unbounded=allow_unbounded,
        every_rule=every_rule,
        on_progress=report,
    )
    query.awaitTermination()
    return Run(perf_counter() - start, tuple(progress), tuple(reported))
