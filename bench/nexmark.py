"""NEXMark, q0 to q23: Caesura against Flink SQL and Spark Structured Streaming.

    python -m bench.nexmark --events 10000000 --slices 2 --rounds 2

Every system is a process of its own on the same two cores and with the same heap, and they take turns, query by
query. `--queries q5 q7 --systems caesura flink --events 400000 --warm-up 3` makes a short run. After each query
bench/results/nexmark.json has what was measured so far.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, replace
from pathlib import Path

from bench.baselines import flink
from bench.baselines.flink_nexmark import warm_flink
from bench.baselines.flink_nexmark_input import csv
from bench.baselines.nexmark import QUERIES
from bench.baselines.spark_nexmark import warm_spark
from bench.caesura_nexmark import warm_caesura, warm_caesura_pipeline
from bench.measure import circumstances, keep
from bench.nexmark_found import Answer, Found, Outcome, Refused, Timed, Together, middle
from bench.nexmark_page import NAMES, chart, page, said, targets
from bench.nexmark_streams import Workload, Workloads, prepare
from bench.process import Failed, LastingProcess, isolated
from bench.report import publish

DIRECTORY = Path(__file__).resolve().parent.parent / ".bench" / "nexmark"
SYSTEMS: dict[str, Callable[[Workload, str], Timed | Refused]] = {
    "caesura": warm_caesura,
    "flink": warm_flink,
    "spark": warm_spark,
}
ONCE = ("spark",)
"""Whoever takes by far the longest is asked in the last round alone."""
Rounds = Mapping[str, Mapping[str, Sequence[Outcome]]]
"""By query and system."""


def measure(workload: Workload, query: str, processes: Mapping[str, LastingProcess]) -> dict[str, Outcome]:
    """One round of a query, by system."""
    found: dict[str, Outcome] = {}
    warm: dict[str, Timed] = {}
    with csv(workload, query) if "flink" in processes else nullcontext():
        for system, process in processes.items():
            match process.call(SYSTEMS[system], workload, query):
                case Refused() | Failed() as without:
                    found[system] = without
                case timed:
                    warm[system] = timed
        for system, timed in warm.items():
            found[system] = processes[system].call(timed)
    for system, outcome in found.items():
        print(f"{query}: {NAMES[system]}: {said(outcome)}", flush=True)
    return found


def rounds_of(
    workload: Callable[[str], Workload],
    queries: Sequence[str],
    processes: Mapping[str, LastingProcess],
    rounds: int,
    after: Callable[[Rounds], object] = lambda _: None,
) -> Rounds:
    """A round is of all queries, so that in the next a JVM has run all of them before. A system that refuses a
    query or fails is not asked again. `after` each query it is told what was found so far."""
    found: dict[str, dict[str, list[Outcome]]] = {query: {system: [] for system in processes} for query in queries}
    for number in range(rounds):
        for query, so_far in found.items():
            able = (system for system, given in so_far.items() if all(isinstance(each, Answer) for each in given))
            asked = (system for system in able if system not in ONCE or number == rounds - 1)
            on = workload(query) if number == 0 else workload(query).again()
            outcomes = measure(on, query, {system: processes[system] for system in asked})
            for system, outcome in outcomes.items():
                so_far[system].append(outcome)
            after(found)
    return found


def together(
    workload: Workload, queries: Sequence[str], process: LastingProcess, rounds: int, known: Mapping[str, Answer]
) -> Together:
    """Those queries that are answered alone, of some of which it is `known` what they take on these streams."""
    rest = [query for query in queries if query not in known]
    alone = rounds_of(lambda _: workload.again(), rest, {"caesura": process}, rounds)
    found = {**known, **{query: middle(each["caesura"]) for query, each in alone.items()}}
    answers = {query: outcome for query, outcome in found.items() if isinstance(outcome, Answer)}
    events = sum(workload.rows.values()) // workload.slices
    return Together(events, answers, _pipeline(workload, [*answers], process, rounds))


def _pipeline(workload: Workload, queries: Sequence[str], process: LastingProcess, rounds: int) -> list[Outcome]:
    timed = process.call(warm_caesura_pipeline, workload, queries)
    if isinstance(timed, Failed):
        return [timed]
    found: list[Outcome] = []
    for number in range(rounds):
        found.append(process.call(timed))
        print(f"one pipeline, round {number + 1}: {said(found[-1])}", flush=True)
        if isinstance(found[-1], Failed):
            break
    return found


def data(
    about: Mapping[str, str], workloads: Workloads, rounds: Rounds, several: Sequence[Together] = ()
) -> object:
    return {
        "about": about,
        "rows": {
            "whole": workloads.whole.rows,
            "longer": workloads.longer.rows,
            "small": workloads.small.rows,
        },
        "runs": {
            query: {system: [*map(_data, outcomes)] for system, outcomes in each.items()}
            for query, each in rounds.items()
        },
        "one pipeline": [
            {
                "events of a slice": both.slice_events,
                "pipeline": [*map(_data, both.rounds)],
                "alone": {query: answer.seconds for query, answer in both.alone.items()},
            }
            for both in several
        ],
    }


def _middles(by_system: Mapping[str, Sequence[Outcome]]) -> dict[str, Outcome]:
    return {system: middle(given) for system, given in by_system.items()}


def _data(outcome: Outcome) -> object:
    if isinstance(outcome, Answer):
        return asdict(outcome)
    return {type(outcome).__name__.lower(): outcome.reason}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.nexmark", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--queries", nargs="+", choices=QUERIES, default=QUERIES, metavar="qN", help="default: all"
    )
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--slices", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warm-up", type=int, default=10, help="seconds, of each query (default: %(default)s)")
    parser.add_argument(
        "--limit", type=int, default=600, help="seconds, for each warm-up and each run (default: %(default)s)"
    )
    parser.add_argument("--memory", default="6g", help="heap of every JVM (default: %(default)s)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], help="default: %(default)s")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    queries = "" if len(options.queries) == len(QUERIES) else f" --queries {' '.join(options.queries)}"
    about = circumstances(
        f"python -m bench.nexmark{queries} --events {options.events} --slices {options.slices}"
        f" --rounds {options.rounds} --warm-up {options.warm_up} --limit {options.limit} --memory {options.memory}"
        f" --systems {' '.join(options.systems)}",
        *flink.flink_version(),
    )
    if "flink" in options.systems:
        flink.interpreter()  # to install it takes minutes, which are not the first query's
    print("writing the streams …", flush=True)
    workloads = isolated(prepare, DIRECTORY, options.events, options.slices, options.memory, options.warm_up)
    with ExitStack() as stack:
        processes = {system: stack.enter_context(LastingProcess(options.limit)) for system in options.systems}
        rounds = rounds_of(
            workloads.of,
            options.queries,
            processes,
            options.rounds,
            lambda found: keep("nexmark", data(about, workloads, found)),
        )
        found = Found({query: _middles(each) for query, each in rounds.items()})
        if answered := found.answered():
            known = {query: each for query, each in answered.items() if workloads.of(query) == workloads.whole}
            given = [*answered], processes["caesura"], options.rounds
            large = together(workloads.whole, *given, known)
            keep("nexmark", data(about, workloads, rounds, [large]))
            found = replace(found, together=(large, together(workloads.small, *given, {})))
    met = targets(found)
    plots = chart(found, options.systems)
    parts = page(found, options.systems, about, met, plots)
    return publish("nexmark", parts, met, data(about, workloads, rounds, found.together), plots)


if __name__ == "__main__":
    sys.exit(main())
