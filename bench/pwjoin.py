"""Windows and punctuations together: figures 8 to 12 of Ding and Rundensteiner, as ratios.

    python -m bench.pwjoin --seconds 40 --rate 50000 --slices 8

A join that knows windows and punctuations (PWJoin) against one that knows windows alone (WJoin) or punctuations
alone (PJoin), over the streams of the paper at higher rates: there, a hundred rows a second. All runs are in one
JVM and take turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from statistics import mean
from typing import TypeVar

from pyspark.sql import SparkSession

import caesura
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.process import isolated
from bench.report import images, publish
from bench.run import Run, run_to_end
from bench.session import spark_session
from bench.targets import Target, at_least, at_most, target_table
from bench.workload import warm_up
from caesura import plan
from caesura.catalog import Traffic
from caesura.diagnostics import Source
from caesura.planning.cost import CostModel
from caesura.planning.enumerate import SafeTrees
from caesura.planning.statistics import Statistics
from caesura.sql.bind import bind
from caesura.testing import ArrivalPattern, PunctuatedStream, write_punctuated_streams
from caesura.testing.arrivals import Order, Punct

T = TypeVar("T")

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "pwjoin"
WINDOWS = (1, 5, 15)
PATTERN = Punct(Order.ASC, size=100, match=40)
PATTERN_OUT = Punct(Order.ASC, size=30, match=40)
FEWER, FEWER_SLICES = 20, 10
"""Streams of which only the punctuations out are counted have so many times fewer rows, and so many slices."""
MORE, MORE_ROUNDS = 8, 3
"""Streams of which a small difference in time is to be seen have so many times more rows, and so many rounds: a
slice with punctuations has a tenth of a second of fixed cost more than one without (decision 16)."""
EAGER_ROWS = 10_000_000
"""No state is as large: rows go as soon as they can, as in the paper, and what is held is what is needed."""
_PREDICTED = """
CREATE STREAM a (key BIGINT, at TIMESTAMP, PUNCTUATED BY (key), ORDERED BY (at)) USING parquet LOCATION 'a';
CREATE STREAM b (key BIGINT, at TIMESTAMP, PUNCTUATED BY (key), ORDERED BY (at)) USING parquet LOCATION 'b';
SELECT a.key FROM a [RANGE INTERVAL {window} SECONDS] JOIN b [RANGE INTERVAL {window} SECONDS] ON a.key = b.key;
"""
QUERY = "SELECT a.key, a.at AS a_at, b.at AS b_at FROM a{a} JOIN b{b} ON a.key = b.key"
PER_KEY = "SELECT a.key, COUNT(*) AS pairs FROM a{a} JOIN b{b} ON a.key = b.key GROUP BY a.key"

HOW = f"""\
- Streams are those of the paper's figures, at the rate given above instead of a hundred rows a second; a window of
  a second then has so many rows of each stream.
- State is that of both inputs of the join, in rows after each slice, on average over the second half of the run
  without the last slice, at whose end all keys are closed; "time" is of the whole run. Every slice purges.
- WJoin reads the same rows without the punctuations; PJoin has no windows.
- "predicted" is what the cost model of join plans says of the same slices, from the rate of rows whose key is not
  closed with their segment, the open keys at that time, the keys closed per second, and the windows.
- Figure 10 has {MORE} times the rate, and each time is the median of {MORE_ROUNDS} rounds in turn.
- Figures 11 and 12 count, at a {FEWER}th of the rate, the punctuations that the join gives to a GROUP BY above it.
"""


@dataclass(frozen=True)
class Streams:
    """Two streams on disk, with their punctuations and without."""

    directory: Path
    punctuated: tuple[bool, bool]

    def declared(self, *, punctuations: bool) -> str:
        folder = self.directory / ("whole" if punctuations else "rows")
        lines = []
        for name, promised in zip("ab", self.punctuated, strict=True):
            promise = ", PUNCTUATED BY (key)" if promised and punctuations else ""
            lines.append(
                f"CREATE STREAM {name} (key BIGINT, at TIMESTAMP, ORDERED BY (at){promise})"
                f" USING parquet LOCATION '{folder / name}' OPTIONS (maxFilesPerTrigger 1);"
            )
        return "\n".join(lines)

    def pipeline(self, query: str, windows: tuple[int | None, int | None], *, punctuations: bool) -> str:
        a, b = (
            "" if length is None else f" [RANGE INTERVAL {length} SECONDS] AS {name}"
            for name, length in zip("ab", windows, strict=True)
        )
        return f"{self.declared(punctuations=punctuations)}\n{query.format(a=a, b=b)};"


@dataclass(frozen=True)
class Scale:
    seconds: int
    rate: int
    slices: int

    @property
    def rows(self) -> int:
        return self.seconds * self.rate


def written(
    spark: SparkSession,
    name: str,
    scale: Scale,
    patterns: tuple[str, str],
    *,
    irrelevant: bool = False,
    also_without: bool = False,
) -> Streams:
    """`also_without`: the rows are written once more, without the punctuations."""
    directory = DIRECTORY / name
    gap = timedelta(seconds=1) / scale.rate
    streams = {
        stream: PunctuatedStream(
            parsed := ArrivalPattern.parse(pattern),
            scale.rows,
            inter_arrival=gap,
            seed=seed,
            irrelevant=irrelevant and "uniform" not in str(parsed),
        )
        for seed, (stream, pattern) in enumerate(zip("ab", patterns, strict=True), 1)
    }
    write_punctuated_streams(spark, directory / "whole", streams, scale.slices)
    for file in sorted((directory / "whole").glob("*/*.parquet")) if also_without else ():
        _without_punctuations(spark, file, directory / "rows" / file.parent.name / file.name)
    return Streams(directory, (streams["a"].punctuated, streams["b"].punctuated))


def _without_punctuations(spark: SparkSession, source: Path, target: Path) -> None:
    parts = target.parent / "_parts"
    rows = spark.read.parquet(str(source)).where("_punctuation IS NULL")
    rows.coalesce(1).write.mode("overwrite").parquet(str(parts))
    [part] = parts.glob("part-*.parquet")
    shutil.move(part, target)
    shutil.rmtree(parts)
    os.utime(target, (source.stat().st_mtime,) * 2)


@dataclass(frozen=True)
class Bench:
    session: caesura.Session

    def run(self, pipeline: str, *, every_rule: bool = False) -> Run:
        return run_to_end(
            self.session,
            pipeline,
            DIRECTORY / "scratch",
            allow_unbounded=True,
            every_rule=every_rule,
            eager_rows=EAGER_ROWS,
        )

    def compared(self, pipelines: Sequence[str], rounds: int) -> list[Run]:
        """Each several times, in turn; the run with the median time of each."""
        in_turn = [[self.run(pipeline) for pipeline in pipelines] for _ in range(rounds)]
        return [sorted(runs, key=lambda run: run.seconds)[len(runs) // 2] for runs in zip(*in_turn, strict=True)]


def steady_state(run: Run) -> float:
    """Rows of the join's inputs in state, on average over the second half of the run."""
    return mean(each.state_rows for each in _second_half(run.slices))


def _second_half(slices: Sequence[T]) -> Sequence[T]:
    """But for the last: with it all keys are closed."""
    return slices[len(slices) // 2 : -1]


def predicted(scale: Scale, window: int) -> float:
    """The same by the cost model, which is told how many keys are open at the end of each slice.

    The rows of a segment's own key find it closed, or will before the slice ends: they do not wait.
    """
    closing = scale.rate / PATTERN.size
    waiting = scale.rate * (1 - PATTERN.match / 100)
    (query,) = bind(Source("pwjoin.sql", _PREDICTED.format(window=window))).queries
    (join,) = (node for node in plan.walk(query.plan) if isinstance(node, plan.Join))

    def after(seconds: float) -> float:
        left = PATTERN.keys(scale.rows) - closing * seconds
        traffic = Traffic(waiting, (("key", left),), (("key", closing),))
        model = CostModel(SafeTrees(join), Statistics({"a": traffic, "b": traffic}))
        return sum(rows for _, rows in model.cost((0, 1)).state)

    ends = (scale.seconds * number / scale.slices for number in range(1, scale.slices + 1))
    return mean(map(after, _second_half(tuple(ends))))


def passed_on(run: Run) -> list[int]:
    """The punctuations that the join has passed on, up to each slice."""
    counted = (each.released.get("join", {}).get("passed on", 0) for each in run.slices)
    return list(accumulate(counted))


@dataclass(frozen=True)
class Found:
    scale: Scale
    windows: dict[int, tuple[Run, Run]]
    """By the length of the windows: PWJoin and WJoin."""
    irrelevant: dict[int, tuple[Run, Run]]
    """The same with punctuations that match nothing."""
    out: dict[str, list[int]]
    """Punctuations passed on, up to each slice."""


def measure(options: argparse.Namespace) -> Found:
    scale = Scale(options.seconds, options.rate, options.slices)
    more = Scale(options.seconds, options.rate * MORE, options.slices)
    few = Scale(options.seconds, options.rate // FEWER, FEWER_SLICES)
    keys = PATTERN_OUT.keys(few.rows)
    with spark_session(options.memory) as spark:
        bench = Bench(caesura.Session(spark))
        print("writing the streams …", flush=True)
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        random = "punct-random-30-40"
        eight = written(spark, "eight", scale, (str(PATTERN), str(PATTERN)), also_without=True)
        ten = written(spark, "ten", more, (str(PATTERN_OUT), random), irrelevant=True, also_without=True)
        eleven = written(spark, "eleven", few, (str(PATTERN_OUT), random))
        twelve = written(spark, "twelve", few, (f"uniform-{keys}", str(PATTERN_OUT)))

        def pipelines(streams: Streams, window: int) -> list[str]:
            return [streams.pipeline(QUERY, (window, window), punctuations=each) for each in (True, False)]

        def pair(streams: Streams, window: int, rounds: int = options.rounds) -> tuple[Run, Run]:
            one, other = bench.compared(pipelines(streams, window), rounds)
            if one.rows_out != other.rows_out:
                sys.exit(f"{one.rows_out:,} rows with punctuations, {other.rows_out:,} without")
            return one, other

        def out(streams: Streams, *windows: int | None) -> list[int]:
            a, b = windows
            return passed_on(bench.run(streams.pipeline(PER_KEY, (a, b), punctuations=True), every_rule=True))

        print("warming up …", flush=True)
        both = (*pipelines(eight, WINDOWS[0]), *pipelines(ten, WINDOWS[1]))
        warm_up(lambda: [*map(bench.run, both)], options.warm_up)
        windows = {}
        for window in WINDOWS:
            print(f"figures 8 and 9: windows of {window} s …", flush=True)
            windows[window] = pair(eight, window)
        print("figure 10: irrelevant punctuations …", flush=True)
        irrelevant = {window: pair(ten, window, MORE_ROUNDS) for window in WINDOWS[1:]}
        print("figures 11 and 12: punctuations out …", flush=True)
        passed = {
            "PWJoin": out(eleven, 1, 1),
            "PJoin": out(eleven, None, None),
            "PWJoin, one side punctuates": out(twelve, None, 5),
            "PJoin, one side punctuates": out(twelve, None, None),
        }
        return Found(scale, windows, irrelevant, passed)


def targets(found: Found) -> list[Target]:
    ratios = [steady_state(one) / steady_state(other) for one, other in found.windows.values()]
    out = found.out
    half = {name: each[len(each) // 2] for name, each in out.items()}
    return [
        *(
            at_most(f"state, PWJoin / WJoin, windows of {window} s", ratio, 1)
            for window, ratio in zip(found.windows, ratios, strict=True)
        ),
        at_most(
            "the same, windows of 15 s / of 1 s: the longer the window, the more is saved",
            ratios[-1] / ratios[0],
            1,
        ),
        at_least("rows out per second, PWJoin / WJoin, windows of 15 s", _faster(*found.windows[15]), 1),
        *(
            at_most(
                f"predicted state, off by, windows of {window} s",
                abs(predicted(found.scale, window) / steady_state(one) - 1),
                0.2,
            )
            for window, (one, _) in found.windows.items()
        ),
        *(
            at_most(
                f"time with irrelevant punctuations / without, windows of {window} s", 1 / _faster(*runs), 1.05
            )
            for window, runs in found.irrelevant.items()
        ),
        at_least("punctuations out half way, PWJoin / PJoin", half["PWJoin"] / max(half["PJoin"], 1), 1.01),
        at_least("punctuations out, only one side punctuates", out["PWJoin, one side punctuates"][-1], 1),
    ]


def _faster(one: Run, other: Run) -> float:
    return other.seconds / one.seconds


def tables(found: Found) -> list[Table]:
    windows = Table(
        (
            "windows",
            "PWJoin, state",
            "predicted",
            "WJoin, state",
            "ratio",
            "PWJoin, s",
            "WJoin, s",
            "ratio",
            "rows out",
        ),
        tuple(
            (
                f"{window} s",
                f"{steady_state(one):,.0f}",
                f"{predicted(found.scale, window):,.0f}",
                f"{steady_state(other):,.0f}",
                f"{steady_state(one) / steady_state(other):.2f}",
                f"{one.seconds:.1f}",
                f"{other.seconds:.1f}",
                f"{one.seconds / other.seconds:.2f}",
                f"{one.rows_out:,}",
            )
            for window, (one, other) in found.windows.items()
        ),
    )
    irrelevant = Table(
        ("irrelevant punctuations, windows", "with, s", "without, s", "ratio", "rows out"),
        tuple(
            (
                f"{window} s",
                f"{one.seconds:.1f}",
                f"{other.seconds:.1f}",
                f"{one.seconds / other.seconds:.2f}",
                f"{one.rows_out:,}",
            )
            for window, (one, other) in found.irrelevant.items()
        ),
    )
    out = Table(
        ("punctuations out", "half way", "at the end"),
        tuple((name, f"{each[len(each) // 2]:,}", f"{each[-1]:,}") for name, each in found.out.items()),
    )
    return [windows, irrelevant, out, target_table(targets(found))]


def plots(found: Found) -> dict[str, str]:
    def states(window: int) -> list[Line]:
        runs = zip(("PWJoin", "WJoin"), found.windows[window], strict=True)
        return [
            Line(
                f"{name}-{window}", [(i, each.state_rows) for i, each in enumerate(run.slices, 1)], name == "WJoin"
            )
            for name, run in runs
        ]

    def out(suffix: str) -> list[Line]:
        return [
            Line(name, [*enumerate(found.out[name + suffix], 1)], name == "PJoin") for name in ("PWJoin", "PJoin")
        ]

    def rows_out(title: str, runs: tuple[Run, Run]) -> str:
        lines = [Line(n, _rows_out(run), n == "WJoin") for n, run in zip(("PWJoin", "WJoin"), runs, strict=True)]
        return plot(title, "seconds", "million rows", lines)

    return {
        **{
            f"pwjoin-state-{window}.svg": plot(
                f"State with windows of {window} s (figure 8)", "slice", "rows in state", states(window)
            )
            for window in found.windows
        },
        **{
            f"pwjoin-rate-{window}.svg": rows_out(f"Rows out with windows of {window} s (figure 9)", runs)
            for window, runs in found.windows.items()
            if window in WINDOWS[1:]
        },
        **{
            f"pwjoin-irrelevant-{window}.svg": rows_out(
                f"Rows out, windows of {window} s, irrelevant punctuations (figure 10)", runs
            )
            for window, runs in found.irrelevant.items()
        },
        "pwjoin-out.svg": plot("Punctuations out, 1 s windows (figure 11)", "slice", "punctuations", out("")),
        "pwjoin-one-side.svg": plot(
            "Punctuations out, one side punctuates (figure 12)",
            "slice",
            "punctuations",
            out(", one side punctuates"),
        ),
    }


def _rows_out(run: Run) -> list[tuple[float, float]]:
    """Up to each moment."""
    so_far = accumulate(each.rows_out / 1e6 for each in run.progress)
    return [(0, 0), *zip(run.reported, so_far, strict=True)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.pwjoin", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=40, help="of the streams' own time (default: %(default)s)")
    parser.add_argument("--rate", type=int, default=50_000, help="rows a second of each (default: %(default)s)")
    parser.add_argument("--slices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=240, help="seconds (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of the JVM (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    about = circumstances(
        f"python -m bench.pwjoin --seconds {options.seconds} --rate {options.rate} --slices {options.slices}"
        f" --rounds {options.rounds} --warm-up {options.warm_up} --memory {options.memory}"
    )
    found = isolated(measure, options)
    drawn = plots(found)
    parts: list[str | Table] = [
        "# Windows and punctuations",
        facts(about),
        *tables(found),
        images(drawn),
        HOW,
    ]
    data = {
        "about": about,
        "windows": {window: [run.figures for run in runs] for window, runs in found.windows.items()},
        "irrelevant": {window: [run.figures for run in runs] for window, runs in found.irrelevant.items()},
        "punctuations out": found.out,
    }
    return publish("pwjoin", parts, targets(found), data, drawn)


if __name__ == "__main__":
    sys.exit(main())
