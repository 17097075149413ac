"""A join that forgets punctuations is the same join: it emits, keeps and passes on the same, slice by slice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from random import Random

import pytest

from caesura.model.forget import Forgetful
from caesura.model.join import Join, hops
from caesura.model.operator import Row, Slice, State
from caesura.punctuation import Constant, Punctuation, Value
from tests.property.operators import BIT, CASES, equalities
from tests.property.traces import generated

JOINS = [name for name, case in CASES.items() if isinstance(case.operator, Join)]
TRACES = 300

COLUMNS = (("k", "w"), ("z",), ("y",))
PAIRS = equalities("k = z", "w = y")
ORDERS = hops(COLUMNS, PAIRS, (((1, 2),), ((0, 2),), ((0, 1),)))


class ForgetsWhatARowWaitsFor(Forgetful):
    """All have closed the value, but a row with it is still there: it waits for a third input."""

    def waits(self, values: Mapping[str, Value], held: Slice) -> bool:
        return False


class ForgetsWhatMayStillCome(Forgetful):
    """No row with the value is left, but one may still come."""

    def opens(self, values: Mapping[str, Value], held: Slice) -> bool:
        return False


class ForgetsAlone(Forgetful):
    """Its own rows still ask for what its partners have closed; when they are gone, these find nobody."""

    def askers(self, i: int, shared: Collection[int]) -> Iterable[int]:
        return set(shared) - {i}


def differs(kind: type[Join], name: str) -> bool:
    """Whether some trace tells a join of this kind from the plain one."""
    case = CASES[name]
    other = replace(case, operator=kind(**{each.name: getattr(case.operator, each.name) for each in fields(Join)}))
    traces = (generated(case.domains, n) for n in range(TRACES))
    return any(list(other.outputs(trace)) != list(case.outputs(trace)) for trace in traces)


@pytest.mark.parametrize("name", JOINS)
def test_it_emits_keeps_and_passes_on_the_same(name: str) -> None:
    assert not differs(Forgetful, name)


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (ForgetsWhatARowWaitsFor, "cycle"),
        (ForgetsWhatMayStillCome, "cycle"),
        (ForgetsWhatMayStillCome, "join"),
        (ForgetsWhatMayStillCome, "join on two attributes"),
    ],
)
def test_a_planted_bug_is_found(bug: type[Join], name: str) -> None:
    assert differs(bug, name)


def remembers(kind: type[Forgetful], number: int) -> bool:
    """Whether anything is remembered in the end, if all values are closed one by one, in any order."""
    rng = Random(number)
    join = kind(COLUMNS, PAIRS, ORDERS)
    arrivals = [
        (i, Slice((), frozenset({Punctuation.of({name: Constant(value)})})))
        for i, names in enumerate(COLUMNS)
        for name in names
        for value in BIT
    ]
    rng.shuffle(arrivals)
    rows = tuple(Slice(tuple(Row.of({n: rng.choice(BIT) for n in names}) for _ in BIT)) for names in COLUMNS)
    state: State = join.keep(join.step(join.initial(), rows)[1])
    for i, said in arrivals:
        state = join.keep(join.step(state, tuple(said if k == i else Slice() for k, _ in enumerate(COLUMNS)))[1])
    return any(held.rows or held.punctuations for held in join.forget(state))


def test_all_forget_together() -> None:
    assert not any(remembers(Forgetful, number) for number in range(300))
    assert any(remembers(ForgetsAlone, number) for number in range(300))
