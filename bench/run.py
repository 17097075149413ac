"""One run of a pipeline on Caesura, slice by slice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import caesura
from bench.result import Result
from bench.session import spark_session
from bench.workload import WARM_UP_SECONDS, warm_up

S = TypeVar("S")


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

    @property
    def since_first_event(self) -> float:
        """Seconds from the beginning of the first slice to the end of the last: without planning and start."""
        return self.reported[-1] - self.reported[0] + self.progress[0].seconds

    @cached_property
    def slices(self) -> tuple[caesura.Progress, ...]:
        """Without the one that ends the streams."""
        return tuple(each for each in self.progress if each.rows_in)

    @property
    def slice_seconds(self) -> tuple[float, ...]:
        """Of all that a slice takes, what Spark does around it included."""
        return tuple(later - at for at, later in pairwise((0.0, *self.reported)))[: len(self.slices)]

    def result(self, events: int, last: caesura.Progress) -> Result:
        """Among those of other systems; its state at the end is that of `last`."""
        return Result(
            name="Caesura",
            events=events,
            seconds=self.seconds,
            rows_out=self.rows_out,
            state_rows=last.state_rows,
            peak_state_rows=max(each.state_rows for each in self.progress),
            slice_seconds=tuple(each.seconds for each in self.slices),
        )

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
    eager_rows: int | None = None,
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
        eager_rows=eager_rows,
        on_progress=report,
    )
    query.awaitTermination()
    return Run(perf_counter() - start, tuple(progress), tuple(reported))


def by_caesura(
    run: Callable[[caesura.Session, S], Result],
    warm: S,
    streams: S,
    memory: str,
    seconds: float = WARM_UP_SECONDS,
) -> Result:
    """A run on some streams, after runs on others in the same JVM that warm it up."""
    with spark_session(memory) as spark:
        session = caesura.Session(spark)
        warm_up(lambda: run(session, warm), seconds)
        return run(session, streams)
