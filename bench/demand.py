"""Partial results on demand: figures 10 to 17 of the just-in-time paper.

    python -m bench.demand --figures 10,11,12,13,14,15,16,17 --scale 50 --windows 2 --slices 5 --rounds 1

Clique joins in windows, as one join of all streams, as the paper's trees, and as these trees with demand. All runs
are in one JVM and take turns.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict

import duckdb

import caesura
from bench.clique import PLANTED, SELECTIVE
from bench.cpu import SETTINGS
from bench.jit import AXES, DEFAULTS, FIGURES, Figure, Pace, Plan, Point
from bench.measure import Table, circumstances, facts
from bench.plot import Line, plot
from bench.report import images, publish
from bench.session import spark_session
from bench.targets import Target, at_most, target_table
from bench.variants import DEMAND, DIRECTORY, TREE, VARIANTS, WARM_UP_SLICES, Bench, Found, Measured

Points = Mapping[Point, Found]

PANELS: dict[str, tuple[str, Callable[[Measured], float]]] = {
    "cpu": ("seconds of CPU", lambda run: run.cpu),
    "state": ("thousand rows in state, at the most", lambda run: run.state / 1000),
}
"""The two panels of each of the paper's figures."""
RATIOS: dict[str, Callable[[Measured], float]] = {
    "state": lambda run: run.state,
    "partial results stored": lambda run: run.partial,
    "CPU": lambda run: run.cpu,
    "time of a slice": lambda run: run.slice,
}

HOW = f"""\
- Streams, plans and parameters are the paper's (tables II and III): an equality between each pair of streams,
  on a column of their own, uniform in 1 … dmax, and one window on all. With left-deep plans stream D (C, if
  there are three) has values from {SELECTIVE} times that range. The defaults are bold in the paper, and its
  text has lost that but for dmax, 200 and 50; taken here are the middle one of five values, and N = 4 for
  left-deep plans.
- There are as many copies of the paper's streams as the scale says, in one run: rows of different copies have
  different values and never meet. So rows per second and values of a column grow by that factor, the partners
  expected per row and condition ("partners": rate × window / dmax) stay those of the paper, and so does the
  chance that some row of C ⋈ D has two given values. With dmax scaled and the columns independent that chance
  would shrink as the scale grows, and demand would look the better for it.
- For every {PLANTED} rows of a stream there is one more with a partner in every other stream, somewhere in a
  window: the paper's own rows hardly ever give a result. Each run gave as many rows as DuckDB over the same
  files.
- All points of a plan have streams of the same length, `--windows` default windows, and slices of the same
  length, `--slices` to a default window. The paper's streams last five hours.
- "made" are the partial results: of a tree all that its joins below the last make, counted by DuckDB; with
  demand those that were made. "state" is the most rows after any slice; then its parts, each at its most: rows
  of streams, partial results, suspended rows. Every slice purges.
- CPU is that of Spark's tasks over the whole run, without planning. "slice" is the mean time of a slice once
  the windows are full, all that Spark does around it included. Before a point is measured each variant has run
  {WARM_UP_SLICES} slices of its kind. Of several rounds the one with the median time is shown.
- "chosen" is what the planner would run without a hint, by the true rate and distinct values of one copy (of
  all together, the columns of a row are not independent, as it takes them to be), and "off" the time of that
  over the fastest of those measured. A tree that it chooses may have another shape than the paper's, which is
  measured.
"""


def measured(bench: Bench, point: Point, options: argparse.Namespace, *, first: bool) -> Found:
    pace = Pace(options.scale, options.slices, round(options.windows * options.slices))
    print(f"{point} …", flush=True)
    found = bench.measured(point, pace, options.warm_up if first else 0)
    for row in rows([found]):
        print("  " + " | ".join(row[1:]), flush=True)
    print(f"  chosen: {found.chosen.variant} {found.chosen.tree}", flush=True)
    return found


# What came of it


def targets(found: Points) -> list[Target]:
    return [*_on_demand(found), *_planned(found)]


def _on_demand(found: Points) -> Iterator[Target]:
    default = found.get(DEFAULTS["bushy"])
    if default is not None and default.compared:
        yield at_most("state, with demand / without, bushy default", default.ratio(RATIOS["state"]), 0.40)
        yield at_most("partial results stored, the same", default.ratio(RATIOS["partial results stored"]), 0.10)
    plans: tuple[Plan, ...] = ("bushy", "left-deep")
    for plan in plans:
        several = [each for each in found.values() if each.point.plan == plan and each.compared]
        least = min(several, key=lambda each: each.point.dmax, default=None)
        if least is not None and least.point.dmax < DEFAULTS[plan].dmax:
            text = f"time of a slice, with demand / without, {plan}, dmax = {least.point.dmax}"
            yield at_most(text, least.ratio(RATIOS["time of a slice"]), 1.05)


def _planned(found: Points) -> Iterator[Target]:
    """The worst of all points, if what was chosen was measured."""
    off = [each.off for each in found.values() if each.off is not None]
    if off:
        yield at_most(
            f"time of what the planner chooses / the fastest, on each of {len(off)} points", max(off), 1.1
        )


HEAD = (
    "point",
    "partners",
    "",
    "made",
    "state",
    "streams",
    "partial",
    "suspended",
    "CPU, s",
    "slice, s",
    "rows out",
)


def rows(several: Sequence[Found]) -> Iterator[tuple[str, ...]]:
    for found in several:
        for variant, run in found.runs.items():
            made, first = found.made(variant), variant == next(iter(found.runs))
            yield (
                f"{found.point}" if first else "",
                f"{found.partners:.3g}" if first else "",
                variant,
                f"{made:,}",
                f"{run.state:,}",
                f"{run.sources:,}",
                f"{run.partial:,}",
                f"{run.suspended:,}",
                f"{run.cpu:.1f}",
                f"{run.slice:.2f}",
                f"{run.rows_out:,}",
            )


def ratios(figures: Sequence[Figure], found: Points) -> Table:
    """With demand / without."""
    return Table(
        ("with demand / without", *RATIOS, "made"),
        tuple(
            (
                f"figure {figure.number}, {AXES[figure.parameter]} = {value:g}",
                *(f"{each.ratio(what):.3g}" for what in RATIOS.values()),
                f"{each.made(DEMAND) / each.counts.partial:.3g}",
            )
            for figure in figures
            for value, point in figure.points().items()
            if (each := found.get(point)) is not None and each.compared
        ),
    )


def choices(found: Points) -> Table:
    return Table(
        ("point", *(f"{variant}, s" for variant in VARIANTS), "fastest", "chosen", "tree", "off"),
        tuple(
            (
                str(each.point),
                *(f"{each.runs[variant].slice:.2f}" if variant in each.runs else "" for variant in VARIANTS),
                each.fastest,
                each.chosen.variant,
                each.chosen.tree,
                "?" if each.off is None else f"{each.off:.2f}",
            )
            for each in found.values()
        ),
    )


def tables(figures: Sequence[Figure], found: Points) -> list[Table]:
    compared = ratios(figures, found)
    return [
        Table(HEAD, tuple(rows([*found.values()]))),
        *((compared,) if compared.rows else ()),
        choices(found),
        target_table(targets(found)),
    ]


def plots(figures: Sequence[Figure], found: Points) -> dict[str, str]:
    return {
        f"demand-{figure.number}-{panel}.svg": _panel(figure, found, *PANELS[panel])
        for figure in figures
        for panel in PANELS
    }


def _panel(figure: Figure, found: Points, y: str, value: Callable[[Measured], float]) -> str:
    there = [(x, found[point].runs) for x, point in figure.points().items() if point in found]
    variants = [variant for variant in VARIANTS if all(variant in runs for _, runs in there)]
    lines = [
        Line(variant, [(x, value(runs[variant])) for x, runs in there], variant == TREE) for variant in variants
    ]
    return plot(figure.title, AXES[figure.parameter], y, lines)


# The command


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.demand", description=__doc__.splitlines()[0])
    every = ",".join(map(str, FIGURES))
    parser.add_argument("--figures", default=every, help="of the paper (default: %(default)s)")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="(default: %(default)s)")
    parser.add_argument(
        "--scale", type=int, default=50, help="copies of the paper's streams (default: %(default)s)"
    )
    parser.add_argument("--windows", type=float, default=2, help="default windows that streams last")
    parser.add_argument("--slices", type=int, default=5, help="to a default window (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=60, help="seconds, before all (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of the JVM (default: %(default)s)")
    parser.add_argument("--ends", action="store_true", help="the ends of each figure and the default alone")
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="only see that it works: the first point of each figure, nothing written",
    )
    options = parser.parse_args()
    options.figures = [FIGURES[int(number)] for number in options.figures.split(",")]
    options.variants = [each.strip() for each in options.variants.split(",")]
    if unknown := [each for each in options.variants if each not in VARIANTS]:
        parser.error(f"no such variant: {', '.join(unknown)}; there are {', '.join(VARIANTS)}")
    if options.tiny:
        options.scale, options.windows, options.slices, options.warm_up = 2, 1.5, 2, 0
    return options


def command(options: argparse.Namespace) -> str:
    return (
        f"python -m bench.demand --figures {','.join(str(each.number) for each in options.figures)}"
        f" --variants '{','.join(options.variants)}' --scale {options.scale} --windows {options.windows:g}"
        f" --slices {options.slices} --rounds {options.rounds} --warm-up {options.warm_up}"
        f" --memory {options.memory}{' --ends' if options.ends else ''}"
    )


def main() -> int:
    options = arguments()
    about = circumstances(command(options), f"duckdb {duckdb.__version__}")
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    found: dict[Point, Found] = {}
    status = 0
    with spark_session(options.memory, SETTINGS) as spark:
        bench = Bench(spark, caesura.Session(spark), options.variants, options.rounds)
        for number, figure in enumerate(options.figures, 1):
            for point in chosen_points(figure, options):
                if point not in found:
                    found[point] = measured(bench, point, options, first=not found)
            if not options.tiny:  # a figure that is done is kept, whatever becomes of the next
                status |= written(about, options.figures[:number], found)
    for table in tables(options.figures, found) if options.tiny else ():
        table.print()
    return status


def chosen_points(figure: Figure, options: argparse.Namespace) -> list[Point]:
    points = [*figure.points().values()]
    if options.tiny:
        return points[:1]
    ends = {points[0], points[-1], DEFAULTS[figure.plan]}
    return [point for point in points if point in ends] if options.ends else points


def written(about: Mapping[str, str], so_far: Sequence[Figure], every: Points) -> int:
    """All figures of the plan of the last one, as a page of their own."""
    plan = so_far[-1].plan
    figures = [each for each in so_far if each.plan == plan]
    found = {point: each for point, each in every.items() if point.plan == plan}
    drawn = plots(figures, found)
    parts: list[str | Table] = [
        f"# Partial results on demand, {plan} plans",
        facts(about),
        *tables(figures, found),
        images(drawn),
        HOW,
    ]
    data = {"about": about, "points": [asdict(each) for each in found.values()]}
    return publish(f"demand-{plan}", parts, targets(found), data, drawn)


if __name__ == "__main__":
    sys.exit(main())
