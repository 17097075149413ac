"""Bugs planted in the operators are found by the properties that `test_model` checks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeAlias

import pytest
from hypothesis import Phase, find, settings

from caesura.model.group import Group
from caesura.model.join import Hop, Join
from caesura.model.operator import Operator, Row, Rows, Slice, State
from caesura.model.project import Project
from caesura.model.select import Select
from caesura.punctuation import Punctuation, Wildcard, match, rename, set_match
from tests.property.test_model import CASES, Case, complete, lossless, proper, safe, traces

Property: TypeAlias = Callable[[Case, tuple[tuple[Slice, ...], ...]], bool]


class ForgetsNewWithNew(Join):
    """Rows that arrive in the same slice do not meet."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        arrived = [self.joinable(slice.rows) for slice in new]
        held = [slice.rows for slice in state]
        terms = (self.joined([*held[:k], rows, *held[k + 1 :]]) for k, rows in enumerate(arrived))
        matches = tuple(row for term in terms for row in term if not self.residual or self.residual(row))
        return matches, tuple(
            s + Slice(rows, n.punctuations) for s, rows, n in zip(state, arrived, new, strict=True)
        )


class CountsNewWithNewTwice(Join):
    """Every term joins with the state after the slice."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        _, grown = super().step(state, new)
        return super().step(grown, new)[0], grown


class PropagatesAtOnce(Join):
    """A punctuation is passed on although rows that match it are still waiting for partners."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations | kept[1].punctuations


class TakesNullForEqual(Join):
    def agree(self, row: Row) -> bool:
        groups = ([row[a] for a in together if a in row] for together in self.classes)
        return all(len(set(values)) <= 1 for values in groups)


class PurgesByAnyPunctuation(Join):
    """A partner is taken for impossible because some of its rows are."""

    def covered(self, row: Row, hop: Hop, punctuations: Iterable[Punctuation]) -> bool:
        return super().covered(row, hop, [_within(p, dict(hop.pins)) for p in punctuations])


class PurgesByItself(Join):
    """A row goes when its own stream has closed its key."""

    def purgeable(self, row: Row, order: tuple[Hop, ...], state: State) -> bool:
        mine = next(i for i, names in enumerate(self.columns) if set(names) == set(row))
        return super().purgeable(row, order, state) or set_match(row, state[mine].punctuations)


class StopsAfterTheFirstHop(Join):
    def purgeable(self, row: Row, order: tuple[Hop, ...], state: State) -> bool:
        return super().purgeable(row, order[:1], state)


class RewritesToAnUnequalAttribute(Join):
    """Of an equality class, the punctuation is written on a neighbour that is not a member."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return super().prop(kept) | {
            q for p in super().prop(kept) if (q := rename(p, {"a": "b", "c": "b"})) is not None
        }


class ClosesByAnyPunctuation(Group):
    """Patterns outside the grouping attributes are ignored."""

    def closing(self, punctuations: Iterable[Punctuation]) -> frozenset[Punctuation]:
        return frozenset(_within(p, self.keys) for p in punctuations)


class ClosesNullByAnyPattern(Group):
    """NULL is taken to be matched by every pattern on its key."""

    def pass_(self, state: State) -> Rows:
        (held,) = state
        closed = [p for p in held.rows if self._closed(p, held.punctuations)]
        return tuple(self.finished(partial) for partial in closed)

    def keep(self, state: State) -> State:
        (held,) = state
        return (Slice(tuple(p for p in held.rows if not self._closed(p, held.punctuations)), held.punctuations),)

    def _closed(self, partial: Row, punctuations: Iterable[Punctuation]) -> bool:
        known = [key for key in self.keys if partial[key] is not None]
        return any(match(partial, _within(p, known)) for p in self.closing(punctuations))


class NeverCloses(Group):
    def pass_(self, state: State) -> Rows:
        return ()


class DropsPatterns(Project):
    """Patterns on attributes that are projected away are left out instead of holding back the punctuation."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        confined = Slice((), frozenset(_within(p, self.renames) for p in kept[0].punctuations))
        return super().prop((confined,))


class TakesUnknownForTrue(Select):
    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        _, grown = super().step(state, new)
        return tuple(row for row in new[0].rows if self.predicate(row) is not False), grown


def _within(p: Punctuation, attributes: Iterable[str]) -> Punctuation:
    within = set(attributes)
    return Punctuation(tuple((name, q if name in within else Wildcard()) for name, q in p.patterns))


MUTANTS: list[tuple[type[Operator], str, Property]] = [
    (ForgetsNewWithNew, "join", complete),
    (ForgetsNewWithNew, "cycle", complete),
    (CountsNewWithNewTwice, "join", safe),
    (PropagatesAtOnce, "join", proper),
    (TakesNullForEqual, "join", safe),
    (PurgesByAnyPunctuation, "join", lossless),
    (PurgesByAnyPunctuation, "cycle", lossless),
    (PurgesByItself, "join", lossless),
    (StopsAfterTheFirstHop, "cycle", lossless),
    (RewritesToAnUnequalAttribute, "join on two attributes", proper),
    (ClosesByAnyPunctuation, "group", safe),
    (ClosesByAnyPunctuation, "group", proper),
    (ClosesNullByAnyPattern, "group by two keys", safe),
    (NeverCloses, "group", complete),
    (DropsPatterns, "project", proper),
    (TakesUnknownForTrue, "select", safe),
]


@pytest.mark.parametrize(
    ("mutant", "name", "holds"), MUTANTS, ids=[f"{m.__name__} in {n}, {p.__name__}" for m, n, p in MUTANTS]
)
def test_a_planted_bug_is_found(mutant: type[Operator], name: str, holds: Property) -> None:
    case = CASES[name]
    assert is_dataclass(case.operator)
    parameters = {field.name: getattr(case.operator, field.name) for field in fields(case.operator)}
    planted = replace(case, operator=mutant(**parameters))
    find(traces(case), lambda trace: not holds(planted, trace), settings=as_many_as_the_properties_get)


as_many_as_the_properties_get = settings(
    max_examples=200, deadline=None, database=None, derandomize=True, phases=[Phase.generate]
)
