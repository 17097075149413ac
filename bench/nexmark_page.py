"""What came of NEXMark: where Caesura is behind and why, every query, and whether the targets are met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from typing import assert_never

from bench.bars import bars
from bench.baselines.flink_state import STATEFUL
from bench.measure import Table, facts
from bench.nexmark_found import Answer, Found, Outcome, Refused, Together
from bench.nexmark_streams import SAMPLE_EVENTS, SMALL_SLICES, WARM_UP_RUNS, WARM_UP_SLICES
from bench.process import Failed
from bench.report import images
from bench.targets import Target, at_least, at_most, target_table

NAMES = {"caesura": "Caesura", "flink": "Flink SQL", "spark": "Spark"}
HOW = f"""\
- Events are the rows of the streams that a query reads, without punctuations: the same rows for every system.
  q3 and q8, which read no bids, read the persons and auctions of a stream 12.5 times as long, so that all queries
  read about as many rows. Seconds are from the first event to the last result.
- Every system has one process and one JVM for all queries. They take turns, query by query, and while one works
  the others are idle. A round is of all queries, so that in the next a JVM is warm by all of them. Every JVM has
  its whole heap from the start and the parallel collector, with which Flink too is faster than with Java's
  default. After each run it collects its garbage, which is not timed. If a query fails, its system begins with
  the next in a new JVM, and is not asked that query again.
- Before a query is timed a system runs it on other rows, for as many seconds as the command says, and at least
  {WARM_UP_RUNS} times: Caesura and Spark on {WARM_UP_SLICES} slices of the size of those that are timed, Flink on
  one; in later rounds once. Flink's first run of these counts the results of the timed rows, which it has
  therefore read before. Nothing that was read is kept for the timed run. Of several rounds the one with the median
  time is shown, of two the faster. Spark, which takes by far the longest, is asked in the last round alone.
- Caesura and Spark read the same parquet files, one per stream and slice, and commit every slice. Their time is
  from the beginning of the first slice to the end of the last, Caesura's with the end of the streams.
- Flink reads csv with the named columns only (its PyPI package has no parquet), bids in as many files as there are
  cores. It knows the keys of persons and auctions and takes no checkpoints. Its time is the job's own, without
  planning. "reading" is what a job takes that only reads, measured once.
- The streams are ordered by time. Caesura is told so; watermarks of Flink and Spark have no delay.
- Results are thrown away by every system; those of q10 are written as csv.
- Results are "final" if no row is taken back, "updated" if newer rows of a key replace older ones, "retracted" if
  Flink gives its sink updates or deletes, by its plan or in the results of {SAMPLE_EVENTS:,} events: the plan
  of q9 says inserts alone, and its winners are replaced all the same. Rows out are those that remain with Flink,
  all that came out with the others. Spark does not close the windows that are open at the end, and gives fewer.
- Caesura's state is that after the last slice, before the streams end, and the most after any. Flink's is by
  construction, without a time to live (bench/baselines/flink_state.py). Spark's is what its operators report.
- Where Caesura is slower than Flink, the seconds of its slices are shown by phase, added up over all slices and
  the end of the streams: survey looks at what came, plan makes the jobs, results runs those that give rows, state
  waits for those that write state beside them, commit makes it last. Results in which no punctuation has a say are
  begun with the survey. The rest passes outside of slices, where Spark finds files and keeps its own log.
- All queries as one pipeline are run in the same JVM after the queries alone, and once on the other rows before.
  The sum is that of the queries alone on the same streams, q3 and q8 measured once more on these. Both are done
  again with a shorter stream in small slices, {SMALL_SLICES} of them.
- The texts are those of the benchmark but for q10, whose day and minute are columns, not folders; q12, whose
  windows are by the time of the bid, not by the clock; q14, which counts letters by built-in functions; and q13 on
  Flink, whose files cannot be looked up in: it joins a table with versions. On Caesura q6 orders the auctions of a
  seller by the time they were opened, and q4 says what has changed after each slice, not after each bid.
"""


def page(
    found: Found, systems: Sequence[str], about: Mapping[str, str], met: Sequence[Target], plots: Mapping[str, str]
) -> list[str | Table]:
    behind = [query for query, ratio in found.ratios("flink").items() if ratio < 1]
    return [
        "# NEXMark",
        facts(about),
        slower(found),
        *([profile_table(found, behind)] if behind else []),
        "## Every query",
        query_table(found, systems),
        *([images(plots)] if plots else []),
        detail_table(found),
        *([pipeline_table(found.together)] if found.together else []),
        target_table(met),
        without_answer(found),
        HOW,
    ]


def targets(found: Found) -> list[Target]:
    met = []
    if ratios := found.ratios("flink"):
        met.append(at_least("events/s / Flink SQL, geometric mean", geometric_mean(ratios.values()), 2))
        met += [
            at_least(f"{query}: events/s / Flink SQL", ratio, 1)
            for query, ratio in ratios.items()
            if query in STATEFUL
        ]
        met.append(at_most("queries with another number of rows than Flink SQL", len(found.differing()), 0))
    if ratios := found.ratios("spark"):
        met.append(at_least("events/s / Spark, geometric mean", geometric_mean(ratios.values()), 1))
    met.append(at_most("queries without an answer of Caesura", len(found.unanswered("caesura")), 0))
    met += [
        at_most(f"slices of {both.slice_events:,} events: one pipeline / its queries alone", both.ratio, 0.5)
        for both in found.together
    ]
    return met


def slower(found: Found) -> str:
    """First of all, where Caesura is behind."""
    lines = [
        f"- {query}: {ratio:.2f} of the events/s of {NAMES[other]}"
        for other in ("flink", "spark")
        for query, ratio in found.ratios(other).items()
        if ratio < 1
    ]
    lines += [f"- {query}: {said(outcome)}" for query, outcome in found.unanswered("caesura").items()]
    lines += [f"- {query}: not as many rows as Flink SQL" for query in found.differing()]
    return "\n".join(["## Slower", "", *(lines or ["Nothing."])])


def profile_table(found: Found, queries: Sequence[str]) -> Table:
    """Where the seconds of these queries go, and how long Flink takes, of that for reading alone."""
    ours = {query: answer for query in queries if (answer := found.answer(query, "caesura")) is not None}
    phases = [*dict.fromkeys(phase for answer in ours.values() for phase in answer.profile)]
    return Table(
        ("seconds", "Caesura", *phases, "Flink SQL", "reading"),
        tuple(
            (
                query,
                f"{answer.seconds:.2f}",
                *(f"{answer.profile.get(phase, 0):.2f}" for phase in phases),
                *_seconds(found.answer(query, "flink")),
            )
            for query, answer in ours.items()
        ),
    )


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
                *(_rate(outcomes[system]) for system in systems),
                *(f"{ratios[other][query]:.2f}" if query in ratios[other] else "" for other in others),
            )
            for query, outcomes in found.outcomes.items()
        ),
    )


def detail_table(found: Found) -> Table:
    rows = [
        (
            query,
            NAMES[system],
            outcome.results,
            *_seconds(outcome),
            f"{outcome.result.rows_out:,}",
            f"{outcome.result.state_rows:,}",
            f"{outcome.result.peak_state_rows:,}",
        )
        for query, outcomes in found.outcomes.items()
        for system, outcome in outcomes.items()
        if isinstance(outcome, Answer)
    ]
    return Table(
        ("query", "system", "results", "seconds", "reading", "rows out", "state rows", "most"), tuple(rows)
    )


def pipeline_table(several: Sequence[Together]) -> Table:
    """Caesura's."""
    return Table(
        ("events of a slice", "queries", "one pipeline, s", "each alone, added up, s", "ratio"),
        tuple(
            (
                f"{both.slice_events:,}",
                f"{len(both.alone)}",
                f"{both.pipeline.seconds:.1f}" if isinstance(both.pipeline, Answer) else "failed",
                f"{both.one_by_one:.1f}",
                f"{both.ratio:.2f}",
            )
            for both in several
        ),
    )


def without_answer(found: Found) -> str:
    lines = [
        f"- {query}, {NAMES[system]}: {said(outcome)}"
        for query, outcomes in found.outcomes.items()
        for system, outcome in outcomes.items()
        if not isinstance(outcome, Answer)
    ]
    lines += [
        f"- all queries as one pipeline, slices of {both.slice_events:,} events: {said(both.pipeline)}"
        for both in found.together
        if not isinstance(both.pipeline, Answer)
    ]
    return "\n".join(["## Without an answer", "", *(lines or ["Nothing."])])


def chart(found: Found, systems: Sequence[str]) -> dict[str, str]:
    """By its file; none if nothing was answered."""
    rows = {
        query: {NAMES[system]: rate / 1e6 for system in systems if (rate := found.rate(query, system)) is not None}
        for query in found.outcomes
    }
    if not any(rows.values()):
        return {}
    return {"nexmark.svg": bars("NEXMark", "million events/s", [NAMES[system] for system in systems], rows)}


def said(outcome: Outcome) -> str:
    match outcome:
        case Refused(reason):
            return f"refused: {reason}"
        case Failed(reason):
            return f"failed: {reason}"
        case Answer(result):
            return f"{result.rate:,.0f} events/s, {result.rows_out:,} rows, {result.peak_state_rows:,} of state"
    assert_never(outcome)


def _rate(outcome: Outcome) -> str:
    match outcome:
        case Refused():
            return "refused"
        case Failed():
            return "failed"
        case Answer(result):
            return f"{result.rate:,.0f}"
    assert_never(outcome)


def _seconds(answer: Answer | None) -> tuple[str, str]:
    """Of the query, and of reading alone."""
    if answer is None:
        return "", ""
    reading = answer.result.source_seconds
    return f"{answer.seconds:.2f}", "" if reading is None else f"{reading:.2f}"
