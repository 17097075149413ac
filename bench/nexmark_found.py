"""What systems answer to the queries of NEXMark, and how they compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from bench.process import Failed
from bench.result import Result, median

Results = Literal["final", "updated", "retracted"]
"""How results come out: once and for all; as newer rows of the same key; or taken back by rows that say so."""


@dataclass(frozen=True)
class Answer:
    result: Result
    results: Results
    phases: tuple[Mapping[str, float], ...] = ()
    """Of Caesura, the seconds of each phase of each slice, that which ends the streams included."""

    @property
    def seconds(self) -> float:
        return self.result.seconds

    @property
    def profile(self) -> dict[str, float]:
        """Where the seconds went: by phase, and what passed outside of slices."""
        names = dict.fromkeys(name for slice_ in self.phases for name in slice_)
        found = {name: sum(slice_.get(name, 0.0) for slice_ in self.phases) for name in names}
        return {**found, "rest": self.seconds - sum(found.values())}


@dataclass(frozen=True)
class Refused:
    """A system has no plan for a query."""

    reason: str


Outcome = Answer | Refused | Failed
Timed = Callable[[], Answer]
"""The run that counts, for the process that has warmed up for it."""


def middle(outcomes: Sequence[Outcome]) -> Outcome:
    """Of all rounds: the median, if all went well."""
    answers = [each for each in outcomes if isinstance(each, Answer)]
    others = [each for each in outcomes if not isinstance(each, Answer)]
    return others[0] if others else median(answers)


@dataclass(frozen=True)
class Together:
    """All queries of Caesura as one pipeline, beside each alone on the same streams."""

    slice_events: int
    alone: Mapping[str, Answer]
    rounds: Sequence[Outcome]
    """Of the pipeline."""

    @property
    def pipeline(self) -> Outcome:
        return middle(self.rounds)

    @property
    def one_by_one(self) -> float:
        """Seconds of all queries, one after the other."""
        return sum(answer.seconds for answer in self.alone.values())

    @property
    def ratio(self) -> float:
        match self.pipeline:
            case Answer(result) if self.alone:
                return result.seconds / self.one_by_one
            case _:
                return inf


@dataclass(frozen=True)
class Found:
    outcomes: Mapping[str, Mapping[str, Outcome]]
    """By query, then by system."""
    together: Sequence[Together] = ()

    def answer(self, query: str, system: str) -> Answer | None:
        outcome = self.outcomes[query].get(system)
        return outcome if isinstance(outcome, Answer) else None

    def rate(self, query: str, system: str) -> float | None:
        answer = self.answer(query, system)
        return None if answer is None else answer.result.rate

    def ratios(self, other: str) -> dict[str, float]:
        """Caesura's rate over another's, of the queries that both answer, the slowest first."""
        found = {}
        for query in self.outcomes:
            ours, theirs = self.rate(query, "caesura"), self.rate(query, other)
            if ours is not None and theirs is not None:
                found[query] = ours / theirs
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def differing(self) -> list[str]:
        """Queries of which Caesura and Flink have not as many rows."""
        return [
            query
            for query in self.outcomes
            if (ours := self.answer(query, "caesura")) is not None
            and (theirs := self.answer(query, "flink")) is not None
            and ours.results == "final"
            and ours.result.rows_out != theirs.result.rows_out
        ]

    def answered(self) -> dict[str, Answer]:
        """What Caesura answers, by query."""
        return {query: answer for query in self.outcomes if (answer := self.answer(query, "caesura")) is not None}

    def unanswered(self, system: str) -> dict[str, Refused | Failed]:
        return {
            query: outcome
            for query, outcomes in self.outcomes.items()
            if isinstance(outcome := outcomes.get(system), Refused | Failed)
        }
