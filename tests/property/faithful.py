"""Faithful and proper, by the definitions (THEORY section 1), over small domains.

A bag of results is *certain* if it is in g(input + A) for every addition A that the punctuations seen so far
allow. Safety: what has been emitted is certain. Completeness: what is certain has been emitted.

An addition of one row, of one input, decides. If A takes a result away, then one row of it does: the partner
that a lonely row had none of, a row more in a group, a row that comes before another. And if g is monotone then
nothing does, and the input alone decides. (A test holds this against additions of two rows.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, takewhile
from typing import Literal, TypeAlias

from caesura.model.operator import Operator, Output, Slice, run
from caesura.punctuation import EVERYTHING, Punctuation, set_match
from tests.property.meanings import Results
from tests.property.traces import Bag, Closing, Domain, Trace, Values

Violation: TypeAlias = Literal["unsafe", "incomplete", "improper", "repeated", "unfinished"]
Event: TypeAlias = Literal["emits", "purges", "passes", "ends"]


@dataclass(frozen=True, eq=False)
class Case:
    """An operator and its relational counterpart g, whose results have the values of `columns`."""

    operator: Operator
    columns: tuple[str, ...]
    g: Callable[..., Results]
    domains: tuple[Domain, ...]
    decisive: int = 1
    """The most rows of an addition that it takes to decide what is certain: none if g is monotone."""
    patient: bool = False
    """Whether it may wait longer than it must, as long as the inputs have not ended: where times bound each other,
    only what is open to the left closes a row."""

    def outputs(self, trace: Trace) -> Iterator[Output]:
        slices = (
            tuple(
                Slice(tuple(map(domain.row, rows)), frozenset(each.punctuation for each in closings))
                for domain, (rows, closings) in zip(self.domains, slice, strict=True)
            )
            for slice in trace
        )
        return run(self.operator, slices)

    def certain(self, so_far: Sequence[Bag], closings: Sequence[Sequence[Closing]]) -> Results:
        sure = self.g(*so_far)
        for addition in self._additions(closings):
            if not sure:
                break
            added = [bag + tuple(row for k, row in addition if k == i) for i, bag in enumerate(so_far)]
            sure = self.common(sure, self.g(*added))
        return sure

    def _additions(self, closings: Sequence[Sequence[Closing]]) -> Iterator[tuple[tuple[int, Values], ...]]:
        """Rows that may still come, each with the number of its input."""
        if self.decisive:
            still = (domain.still(said) for domain, said in zip(self.domains, closings, strict=True))
            coming = [(i, row) for i, rows in enumerate(still) for row in rows]
            for size in range(1, self.decisive + 1):
                yield from combinations_with_replacement(coming, size)

    def common(self, one: Results, other: Results) -> Results:
        rest, both = list(other), []
        for row in one:
            if row in rest:
                rest.remove(row)
                both.append(row)
        return both

    def contains(self, whole: Results, part: Results) -> bool:
        return not Counter(part) - Counter(whole)


class InOrder(Case):
    """The order of the results matters: to be contained is to be a prefix (Tucker et al., section 5.1)."""

    def common(self, one: Results, other: Results) -> Results:
        return [row for row, _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))]

    def contains(self, whole: Results, part: Results) -> bool:
        return whole[: len(part)] == part


class Often(Case):
    """What may come may come several times: of equal rows one takes the number of another, as long as they are
    more than came before them."""

    def _additions(self, closings: Sequence[Sequence[Closing]]) -> Iterator[tuple[tuple[int, Values], ...]]:
        return (addition * 9 for addition in super()._additions(closings))


@dataclass(frozen=True)
class Moment:
    """The end of a slice: what it led to, what has come by then and been emitted, what was passed on before."""

    output: Output
    so_far: tuple[Bag, ...]
    closings: tuple[tuple[Closing, ...], ...]
    emitted: Results
    passed: frozenset[Punctuation]

    @property
    def ended(self) -> bool:
        return all(any(each.punctuation == EVERYTHING for each in said) for said in self.closings)

    @property
    def kept(self) -> int:
        return sum(map(len, self.output.kept))


def moments(case: Case, trace: Trace) -> Iterator[Moment]:
    so_far: tuple[Bag, ...] = ((),) * len(case.domains)
    closings: tuple[tuple[Closing, ...], ...] = ((),) * len(case.domains)
    emitted: Results = []
    passed: frozenset[Punctuation] = frozenset()
    for slice, output in zip(trace, case.outputs(trace), strict=True):
        so_far = tuple(bag + arrival.rows for bag, arrival in zip(so_far, slice, strict=True))
        closings = tuple(said + arrival.closings for said, arrival in zip(closings, slice, strict=True))
        emitted = emitted + [tuple(map(row.__getitem__, case.columns)) for row in output.rows]
        yield Moment(output, so_far, closings, emitted, passed)
        passed |= output.punctuations


def violations(case: Case, course: Sequence[Moment]) -> set[Violation]:
    return {violation for moment in course for violation in _violations(case, moment)}


def _violations(case: Case, moment: Moment) -> Iterator[Violation]:
    certain = case.certain(moment.so_far, moment.closings)
    if not case.contains(certain, moment.emitted):
        yield "unsafe"
    if not (case.patient and not moment.ended) and not case.contains(moment.emitted, certain):
        yield "incomplete"
    if any(set_match(row, moment.passed) for row in moment.output.rows):
        yield "improper"
    if moment.passed & moment.output.punctuations:
        yield "repeated"
    if moment.ended and (moment.kept or EVERYTHING not in moment.passed | moment.output.punctuations):
        yield "unfinished"


def events(course: Sequence[Moment]) -> set[Event]:
    """What happened: the end, and what came before it."""
    held = (0, *(moment.kept for moment in course))
    return {event for kept, moment in zip(held, course, strict=False) for event in _events(kept, moment)}


def _events(held: int, moment: Moment) -> Iterator[Event]:
    if moment.ended:
        yield "ends"
        return
    if moment.output.rows:
        yield "emits"
    if moment.kept < held:
        yield "purges"
    if moment.output.punctuations:
        yield "passes"
