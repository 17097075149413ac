"""NEXMark, q0 to q23: Caesura against Flink SQL and Spark Structured Streaming.

    python -m bench.nexmark --events 4000000 --slices 4 --rounds 3

Every run is a process of its own on the same two cores and with the same heap, and the systems take turns, query
by query. `--queries q5 q7 --systems caesura flink --events 400000 --warm-up 10` makes a short run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean

from bench.bars import bars
from bench.baselines.flink import flink_version
from bench.baselines.flink_nexmark import flink_query, remove_csv, write_csv
from bench.baselines.flink_state import STATEFUL
from bench.baselines.nexmark import QUERIES
from bench.baselines.spark_nexmark import spark_query
from bench.caesura_nexmark import caesura_queries, caesura_query
from bench.measure import Table, circumstances, facts
from bench.nexmark_streams import SAMPLE_EVENTS, Answer, Refused, Workload, prepare
from bench.process import isolated
from bench.report import images, publish
from bench.result import Result, median
from bench.targets import Target, at_least, at_most, target_table
from bench.workload import WARM_UP_SLICES

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "nexmark"
SYSTEMS: dict[str, Callable[[Workload, str], Answer | Refused]] = {
    "caesura": caesura_query,
    "flink": flink_query,
    "spark": spark_query,
}
NAMES = {"caesura": "Caesura", "flink": "Flink SQL", "spark": "Spark"}
HOW = f"""\
- Events are the rows of the streams that a query reads, without punctuations: the same rows for every system.
  Seconds are from the first event to the last result, in a JVM that is warm: before, for so many seconds as the
  command says, it runs the same query again and again over {WARM_UP_SLICES} slices of other rows. Nothing that was
  read is kept for the timed run; Flink has read all rows once before, to count its results. Of several rounds the
  one with the median time is shown.
- Caesura and Spark read the same parquet files, one per stream and slice, and commit every slice. Their time is
  from the beginning of the first slice to the end of the last, Caesura's with the end of the streams.
- Flink reads csv with the named columns only (its PyPI package has no parquet), bids in as many files as there are
  cores. It knows the keys of persons and auctions and takes no checkpoints. Its time is the job's own, without
  planning. "reading" is what a job takes that only reads.
- The streams are ordered by time. Caesura is told so; watermarks of Flink and Spark have no delay.
- Results are thrown away by every system; those of q10 are written as csv.
- Results are "final" if no row is taken back, "updated" if newer rows of a key replace older ones, "retracted" if
  Flink gives its sink updates or deletes, by its plan or in the results of {SAMPLE_EVENTS:,} events: the plan
  of q9 says inserts alone, and its winners are replaced all the same. Rows out are those that remain with Flink,
  all that came out with the others. Spark does not close the windows that are open at the end, and gives fewer.
- Caesura's state is that after the last slice, before the streams end, and the most after any. Flink's is by
  construction, without a time to live (bench/baselines/flink_state.py). Spark's is what its operators report.
- The texts are those of the benchmark but for q10, whose day and minute are columns, not folders; q12, whose
  windows are by the time of the bid, not by the clock; q14, which counts letters by built-in functions; and q13 on
  Flink, whose files cannot be looked up in: it joins a table with versions. On Caesura q6 orders the auctions of a
  seller by the time they were opened, and q4 says what has changed after each slice, not after each bid.
"""


@dataclass(frozen=True)
class Found:
    answers: Mapping[str, Mapping[str, Answer | Refused]]
    """By query, then by system: the median of the rounds."""
    together: float | None
    """Seconds of all queries of Caesura as one pipeline."""

    def rate(self, query: str, system: str) -> float | None:
        answer = self.answers[query].get(system)
        return answer.result.rate if isinstance(answer, Answer) else None

    def ratios(self, other: str) -> dict[str, float]:
        """Caesura's rate over another's, of the queries that both answer."""
        found = {}
        for query in self.answers:
            ours, theirs = self.rate(query, "caesura"), self.rate(query, other)
            if ours is not None and theirs is not None:
                found[query] = ours / theirs
        return found

    def differing(self) -> list[str]:
        """Queries of which Caesura and Flink have not as many rows."""
        return [
            query
            for query, answers in self.answers.items()
            if isinstance(ours := answers.get("caesura"), Answer)
            and isinstance(theirs := answers.get("flink"), Answer)
            and ours.results == "final"
            and ours.result.rows_out != theirs.result.rows_out
        ]

    def alone(self) -> float:
        """Seconds of all queries of Caesura, one after the other."""
        return sum(answer.seconds for answer in answered(self.answers).values())


def measure(
    workload: Workload, queries: Sequence[str], systems: Sequence[str], rounds: int
) -> dict[str, dict[str, list[Answer | Refused]]]:
    """The answers of all rounds, by query and system."""
    found: dict[str, dict[str, list[Answer | Refused]]] = {}
    for query in queries:
        found[query] = {system: [] for system in systems}
        if "flink" in systems:
            write_csv(workload, query)
        for number in range(rounds):
            for system in systems:
                answer = isolated(SYSTEMS[system], workload, query)
                found[query][system].append(answer)
                print(f"{query}, round {number + 1}: {NAMES[system]}: {said(answer)}", flush=True)
        if "flink" in systems:
            remove_csv(workload, query)
    return found


def said(answer: Answer | Refused) -> str:
    if isinstance(answer, Refused):
        return f"refused: {answer.reason}"
    result = answer.result
    return f"{result.rate:,.0f} events/s, {result.rows_out:,} rows, {result.peak_state_rows:,} of state"


def answered(answers: Mapping[str, Mapping[str, Answer | Refused]]) -> dict[str, Answer]:
    """What Caesura answers, by query."""
    ours = {query: each.get("caesura") for query, each in answers.items()}
    return {query: answer for query, answer in ours.items() if isinstance(answer, Answer)}


def together(workload: Workload, queries: Sequence[str], rounds: int) -> list[Result]:
    runs = []
    for number in range(rounds):
        runs.append(isolated(caesura_queries, workload, queries))
        print(f"one pipeline, round {number + 1}: {runs[-1].seconds:.1f} s", flush=True)
    return runs


def middle(answers: Sequence[Answer | Refused]) -> Answer | Refused:
    """A system that refuses a query does so every time."""
    given = [answer for answer in answers if isinstance(answer, Answer)]
    return median(given) if given else answers[0]


# What came of it


def targets(found: Found) -> list[Target]:
    met = []
    if ratios := found.ratios("flink"):
        met.append(at_least("events/s / Flink SQL, geometric mean", geometric_mean(ratios.values()), 2))
        met += [
            at_least(f"{query}: events/s / Flink SQL", ratio, 1)
            for query, ratio in sorted(ratios.items(), key=lambda each: each[1])
            if query in STATEFUL
        ]
        met.append(at_most("queries with another number of rows than Flink SQL", len(found.differing()), 0))
    if ratios := found.ratios("spark"):
        met.append(at_least("events/s / Spark, geometric mean", geometric_mean(ratios.values()), 1))
    if found.together is not None:
        met.append(at_most("one pipeline / the sum of its queries alone", found.together / found.alone(), 0.5))
    return met


def slower(found: Found) -> str:
    """First of all, where Caesura is behind."""
    lines = [
        f"- {query}: {ratio:.2f} of the events/s of {NAMES[other]}"
        for other in ("flink", "spark")
        for query, ratio in sorted(found.ratios(other).items(), key=lambda each: each[1])
        if ratio < 1
    ]
    lines += [
        f"- {query}: refused by Caesura: {answer.reason}"
        for query, answers in found.answers.items()
        if isinstance(answer := answers.get("caesura"), Refused)
    ]
    lines += [f"- {query}: not as many rows as Flink SQL" for query in found.differing()]
    return "\n".join(["## Slower", "", *(lines or ["Nothing."])])


def query_table(found: Found, systems: Sequence[str]) -> Table:
    head = [f"{NAMES[system]}, events/s" for system in systems]
    others = [other for other in systems if other != "caesura" and "caesura" in systems]
    ratios = {other: found.ratios(other) for other in others}
    return Table(
        ("query", "state", *head, *(f"/ {NAMES[other]}" for other in others)),
        tuple(
            (
                query,
                "yes" if query in STATEFUL else "",
                *(_rate(answers[system]) for system in systems),
                *(f"{ratios[other][query]:.2f}" if query in ratios[other] else "" for other in others),
            )
            for query, answers in found.answers.items()
        ),
    )


def _rate(answer: Answer | Refused) -> str:
    return "refused" if isinstance(answer, Refused) else f"{answer.result.rate:,.0f}"


def detail_table(found: Found) -> Table:
    rows = [
        (
            query,
            NAMES[system],
            answer.results,
            f"{answer.seconds:.2f}",
            "" if answer.result.source_seconds is None else f"{answer.result.source_seconds:.2f}",
            f"{answer.result.rows_out:,}",
            f"{answer.result.state_rows:,}",
            f"{answer.result.peak_state_rows:,}",
        )
        for query, answers in found.answers.items()
        for system, answer in answers.items()
        if isinstance(answer, Answer)
    ]
    return Table(
        ("query", "system", "results", "seconds", "reading", "rows out", "state rows", "most"), tuple(rows)
    )


def refusals(found: Found) -> str:
    lines = [
        f"- {query}, {NAMES[system]}: {answer.reason}"
        for query, answers in found.answers.items()
        for system, answer in answers.items()
        if isinstance(answer, Refused)
    ]
    return "\n".join(["## Refused", "", *(lines or ["Nothing."])])


def pipeline_table(found: Found, together: float) -> Table:
    return Table(
        (f"{len(answered(found.answers))} queries on Caesura", "seconds"),
        (("one pipeline", f"{together:.1f}"), ("the sum of each alone", f"{found.alone():.1f}")),
    )


def chart(found: Found, systems: Sequence[str]) -> str:
    rows = {
        query: {NAMES[system]: rate / 1e6 for system in systems if (rate := found.rate(query, system)) is not None}
        for query in found.answers
    }
    return bars("NEXMark", "million events/s", [NAMES[system] for system in systems], rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.nexmark", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--queries", nargs="+", choices=QUERIES, default=QUERIES, metavar="qN", help="default: all"
    )
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--slices", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=60, help="seconds, of each run (default: %(default)s)")
    parser.add_argument("--memory", default="8g", help="heap of every JVM (default: %(default)s)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], help="default: %(default)s")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    queries = "" if len(options.queries) == len(QUERIES) else f" --queries {' '.join(options.queries)}"
    about = circumstances(
        f"python -m bench.nexmark{queries} --events {options.events} --slices {options.slices}"
        f" --rounds {options.rounds} --warm-up {options.warm_up} --memory {options.memory}"
        f" --systems {' '.join(options.systems)}",
        *flink_version(),
    )
    print("writing the streams …", flush=True)
    workload = isolated(prepare, DIRECTORY, options.events, options.slices, options.memory, options.warm_up)
    rounds = measure(workload, options.queries, options.systems, options.rounds)
    answers = {query: {system: middle(given) for system, given in each.items()} for query, each in rounds.items()}
    ours = answered(answers)
    both = together(workload, [*ours], options.rounds) if ours else []
    found = Found(answers, median(both).seconds if both else None)
    met = targets(found)
    plots = {"nexmark.svg": chart(found, options.systems)}
    parts: list[str | Table] = [
        "# NEXMark",
        facts(about),
        slower(found),
        "## Every query",
        query_table(found, options.systems),
        images(plots),
        detail_table(found),
        *([pipeline_table(found, found.together)] if found.together is not None else []),
        target_table(met),
        refusals(found),
        HOW,
    ]
    data = {
        "about": about,
        "rows": workload.rows,
        "runs": {
            query: {system: [asdict(answer) for answer in given] for system, given in each.items()}
            for query, each in rounds.items()
        },
        "one pipeline": [asdict(run) for run in both],
    }
    return publish("nexmark", parts, met, data, plots)


if __name__ == "__main__":
    sys.exit(main())
