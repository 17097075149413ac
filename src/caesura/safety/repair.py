"""THEORY section 10: the fewest constraints on base streams that make a refused query safe.

A scheme of one attribute promises more than a larger one that contains it, so repairs are made of those. Take any
state that is open. Whatever repairs the query must contain one of the constraints that take this state a step
further: a scheme of an input it does not reach, on a column that is pinned. Branching over these, with one more
constraint allowed at a time, finds the smallest repairs; every one of them is a query that was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TypeAlias

from caesura.catalog import OrderedBy, PunctuatedBy, Stream
from caesura.plan import (
    Compare,
    Distinct,
    Filter,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Scan,
    Sort,
    inputs,
    with_inputs,
)
from caesura.safety.because import constraint
from caesura.safety.closing import Closing
from caesura.safety.equality import matching_classes
from caesura.safety.monotone import rises_with
from caesura.safety.names import scans
from caesura.safety.reach import Reach
from caesura.safety.states import open_proofs

_OFFERED = 3
_EXACT = 8
"""The search is exact for queries that read so many streams; beyond, it is greedy."""
_PRUNED = 24
"""A greedy repair of so many constraints at most is freed of those that proved needless."""


@dataclass(frozen=True)
class Addition:
    """A constraint to add to the declaration of a stream."""

    stream: str
    constraint: PunctuatedBy | OrderedBy

    @property
    def add(self) -> str:
        return constraint(self.constraint)


Repair: TypeAlias = tuple[Addition, ...]


def repairs(plan: Plan) -> tuple[Repair, ...]:
    """Up to three of the same size; none if the query is safe or no constraint of a stream helps."""
    if next(open_proofs(plan), None) is None:
        return ()
    if len(scans(plan)) <= _EXACT:
        return _smallest(plan)
    found = _greedy(plan)
    return (found,) if found else ()


def amended(plan: Plan, additions: Iterable[Addition]) -> Plan:
    """The plan with the constraints added to every scan of their streams."""
    several = tuple(additions)
    match plan:
        case Scan(relation=Stream() as stream):
            added = (a.constraint for a in several if a.stream == stream.name)
            return replace(plan, relation=replace(stream, constraints=(*stream.constraints, *added)))
        case _:
            return with_inputs(plan, tuple(amended(each, several) for each in inputs(plan)))


def _smallest(plan: Plan) -> tuple[Repair, ...]:
    """By iterative deepening. A level without an unfinished branch means that no repair exists."""
    for size in count(1):
        found: dict[frozenset[Addition], Repair] = {}
        cut = _search(plan, (), size, set(), found)
        if found:
            return tuple(islice(found.values(), _OFFERED))
        if not cut:
            return ()
    raise AssertionError("counting has no end")


def _search(
    plan: Plan,
    chosen: Repair,
    left: int,
    tried: set[frozenset[Addition]],
    found: dict[frozenset[Addition], Repair],
) -> bool:
    """Whether a branch was cut off because it had no constraint left."""
    key = frozenset(chosen)
    if key in tried:
        return False
    tried.add(key)
    first = next(open_proofs(amended(plan, chosen)), None)
    if first is None:
        found[key] = chosen
        return False
    steps = [each for each in dict.fromkeys(_steps(first)) if each not in key]
    if not left:
        return bool(steps)
    cut = [_search(plan, (*chosen, each), left - 1, tried, found) for each in steps]  # each branch is taken
    return any(cut)


def _greedy(plan: Plan) -> Repair:
    """Each open state takes its first step, all at once: every round at least halves what is not connected."""
    chosen: dict[Addition, None] = {}
    while True:
        proofs = list(open_proofs(amended(plan, chosen)))
        if not proofs:
            break
        steps = [next((each for each in _steps(proof) if each not in chosen), None) for proof in proofs]
        new = [each for each in steps if each is not None]
        if not new:
            return ()
        chosen |= dict.fromkeys(new)
    repair = tuple(chosen)
    for addition in repair if len(repair) <= _PRUNED else ():
        fewer = tuple(each for each in repair if each != addition)
        if next(open_proofs(amended(plan, fewer)), None) is None:
            repair = fewer
    return repair


def _steps(proof: Reach | Closing) -> Iterator[Addition]:
    """The constraints of one attribute of which a repair of this state must contain one."""
    match proof:
        case Reach(join=join):
            for missing in map(proof.lacks, proof.frontier):
                below = join.inputs[missing.input]
                for column in missing.pinned:
                    yield from _punctuated(below, column)
                for column in missing.bounded:
                    yield from _ordered(below, column)
        case Closing(node=Sort(keys=(first, *_)), source=source):
            if not first.descending:
                yield from _ordered(source, first.column)
        case Closing(source=source, keys=keys):
            for column in keys:
                yield from _punctuated(source, column)


def _punctuated(plan: Plan, column: str) -> Iterator[Addition]:
    for stream, name in _bases(plan, column, through_order=False):
        yield Addition(stream.name, PunctuatedBy((name,)))


def _ordered(plan: Plan, column: str) -> Iterator[Addition]:
    for stream, name in _bases(plan, column, through_order=True):
        type = next(each.type for each in stream.columns if each.name == name)
        if type.numeric or type.temporal:
            yield Addition(stream.name, OrderedBy(name))


def _bases(plan: Plan, column: str, *, through_order: bool) -> Iterator[tuple[Stream, str]]:
    """The base streams and columns that `column` carries: unchanged, or in the same order."""
    match plan:
        case Scan(relation=Stream() as stream, alias=alias):
            name = column.removeprefix(f"{alias}.")
            if any(c.name == name and c.type.scalar for c in stream.columns):
                yield stream, name
        case Scan():
            pass
        case Filter(input=below) | Distinct(input=below) | Sort(input=below):
            yield from _bases(below, column, through_order=through_order)
        case Project(input=below, outputs=outputs):
            expr = next(output.expr for output in outputs if output.name == column)
            types = {each.name: each.type for each in below.columns}
            source = rises_with(expr, types) if through_order else expr.column
            if source is not None:
                yield from _bases(below, source, through_order=through_order)
        case Group(input=below, keys=keys):
            if column in keys:
                yield from _bases(below, column, through_order=through_order)
        case Merge(inputs=several) | Compare(inputs=several):
            for each in several:
                yield from _bases(each, column, through_order=through_order)
        case Join(inputs=several):
            equal = next((c.columns for c in matching_classes(plan) if column in c.columns), (column,))
            for name in dict.fromkeys((column, *equal)):
                owner = next(each for each in several if any(c.name == name for c in each.columns))
                yield from _bases(owner, name, through_order=through_order)
