"""One join, a tree, the tree with demand: a query is run as each of them; and what the planner would run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import mean

from pyspark.sql import SparkSession

import caesura
from bench.clique import NAMES, Clique, Counts, written_out
from bench.cpu import cpu_of
from bench.jit import Pace, Point
from bench.result import median
from bench.run import Run, run_to_end
from bench.workload import warm_up
from caesura.diagnostics import Source
from caesura.planning.choose import planned
from caesura.sql.bind import bind

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "demand"
JOIN, TREE, DEMAND = "one join", "tree", "with demand"
VARIANTS = (TREE, DEMAND, JOIN)
EAGER_ROWS = 100_000_000
"""No state is as large: rows go as soon as they can, and what is held is what is needed."""
WARM_UP_SLICES = 3


def hint(variant: str, clique: Clique) -> str:
    tree = f"TREE{written_out(clique.tree)}"
    return {JOIN: "/*+ MJOIN, NO_DEMAND */", TREE: f"/*+ {tree}, NO_DEMAND */", DEMAND: f"/*+ {tree}, DEMAND */"}[
        variant
    ]


@dataclass(frozen=True)
class Held:
    """Rows in state after a slice."""

    sources: int
    partial: int
    suspended: int

    @classmethod
    def after(cls, progress: caesura.Progress, names: str) -> Held:
        """By the names of the tables: what the join holds of a stream has the stream's alias, and `, suspended` if
        it waits for demand. All else are results of joins below."""
        sources = suspended = 0
        for table, rows in progress.state.items():
            _, _, what = table.partition(": ")
            alias, waits, _ = what.partition(", suspended")
            if alias in set(names):
                suspended, sources = (suspended + rows, sources) if waits else (suspended, sources + rows)
        return cls(sources, progress.state_rows - sources - suspended, suspended)


@dataclass(frozen=True)
class Measured:
    """One run of one variant. The time of a slice is the mean once the windows are full."""

    seconds: float
    slice: float
    cpu: float
    rows_out: int
    state: int
    sources: int
    partial: int
    suspended: int
    """The most after any slice, each by itself."""
    made: int
    slices: tuple[float, ...]

    @classmethod
    def of(cls, run: Run, cpu: float, clique: Clique) -> Measured:
        full = min(ceil(clique.window / clique.slice), len(run.slices) - 1)
        held = [Held.after(each, clique.names) for each in run.slices]
        return cls(
            seconds=run.seconds,
            slice=mean(run.slice_seconds[full:]),
            cpu=cpu,
            rows_out=run.rows_out,
            state=max(each.state_rows for each in run.slices),
            sources=max(each.sources for each in held),
            partial=max(each.partial for each in held),
            suspended=max(each.suspended for each in held),
            made=run.progress[-1].on_demand("made"),
            slices=run.slice_seconds,
        )


@dataclass(frozen=True)
class Chosen:
    """What the planner would run, without a hint, by the true rates and distinct values."""

    variant: str
    tree: str


def planners_choice(clique: Clique, hint: str = "") -> Chosen:
    (query,) = bind(Source("clique.sql", clique.pipeline(DIRECTORY, hint))).queries
    (choice,) = planned(query).choices
    if choice.how is None or choice.how.tree == tuple(range(len(clique.names))):
        return Chosen(JOIN, "")
    return Chosen(DEMAND if choice.how.demand else TREE, _spelled(choice.how.tree))


def _spelled(tree: object) -> str:
    if isinstance(tree, tuple):
        return f"({' '.join(map(_spelled, tree))})"
    assert isinstance(tree, int)
    return NAMES[tree].upper()


@dataclass(frozen=True)
class Found:
    """Of one point: by variant the run with the median time, and what DuckDB counts in the same rows."""

    point: Point
    partners: float
    counts: Counts
    chosen: Chosen
    runs: Mapping[str, Measured]

    @property
    def fastest(self) -> str:
        return min(self.runs, key=lambda variant: self.runs[variant].slice)

    @property
    def off(self) -> float | None:
        """Time of what the planner chose / of the fastest."""
        chosen = self.runs.get(self.chosen.variant)
        return None if chosen is None else chosen.slice / self.runs[self.fastest].slice

    def made(self, variant: str) -> int:
        """Partial results: a tree makes all that there are, one join none that it keeps."""
        return {TREE: self.counts.partial, JOIN: 0}.get(variant, self.runs[variant].made)

    @property
    def compared(self) -> bool:
        """Whether the tree was measured with demand and without."""
        return {TREE, DEMAND} <= self.runs.keys()

    def ratio(self, what: Callable[[Measured], float]) -> float:
        """With demand / without."""
        return what(self.runs[DEMAND]) / what(self.runs[TREE])


@dataclass(frozen=True)
class Bench:
    spark: SparkSession
    session: caesura.Session
    variants: Sequence[str]
    rounds: int

    def run(self, clique: Clique, directory: Path, variant: str) -> Measured:
        asked = hint(variant, clique)
        if (executed := planners_choice(clique, asked).variant) != variant:
            sys.exit(f"{asked} is executed as {executed}, not as {variant}")
        pipeline = clique.pipeline(directory, asked)

        def run() -> Run:
            return run_to_end(self.session, pipeline, DIRECTORY / "scratch", eager_rows=EAGER_ROWS)

        return Measured.of(*cpu_of(self.spark, run), clique)

    def measured(self, point: Point, pace: Pace, warming: float) -> Found:
        """Variants take turns, after a warm-up of so many seconds, in which each runs at least once."""
        clique, short = point.clique(pace), point.clique(pace.lasting(WARM_UP_SLICES))
        streams, warm = DIRECTORY / "streams", DIRECTORY / "warm_up"
        counts = clique.write(streams, seed=0)
        short.write(warm, seed=1)

        def each() -> None:
            for variant in self.variants:
                self.run(short, warm, variant)

        each()
        warm_up(each, warming)
        runs: dict[str, list[Measured]] = {variant: [] for variant in self.variants}
        for _ in range(self.rounds):
            for variant, several in runs.items():
                several.append(self.run(clique, streams, variant))
                if (rows := several[-1].rows_out) != counts.results:
                    sys.exit(f"{point}: {variant} gave {rows:,} rows instead of {counts.results:,}")
        medians = {variant: median(several) for variant, several in runs.items()}
        return Found(point, clique.partners, counts, planners_choice(clique), medians)
