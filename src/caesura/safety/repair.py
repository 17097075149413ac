"""THEORY section 10: the fewest constraints on base streams that make a refused query safe.

A scheme of one attribute promises more than a larger one that contains it, so repairs are made of those. Take any
state that is open. Whatever repairs the query must contain one of the constraints that take this state a step
further: a scheme of an input it does not reach, on a column that is pinned. Branching over these, with one more
constraint allowed at a time, finds the smallest repairs; every one of them is a query that was checked. A stream
of a join that closes nothing of what is compared needs a constraint of its own, which cuts most branches short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

from sqlglot import exp

from caesura.catalog import Check, OrderedBy, PunctuatedBy, Stream
from caesura.expression import Expr
from caesura.plan import Frame, Plan, Rank, Scan, Session, Sort, inputs, walk, with_inputs
from caesura.safety.bases import bases
from caesura.safety.because import constraint, text
from caesura.safety.closing import Closing
from caesura.safety.names import scans
from caesura.safety.reach import Reach
from caesura.safety.schemes import Derivation, derive
from caesura.safety.states import open_proofs
from caesura.types import BOOLEAN

OFFERED = 3
_EXACT = 8
"""The search is exact for queries that read so many streams and tables; beyond, it is greedy."""
_TRIED = 2000
"""So many queries are checked at the most before an exact search gives up and becomes greedy."""
_PRUNED = 100
"""A greedy repair of so many constraints at most is freed of those that proved needless."""


@dataclass(frozen=True)
class Addition:
    """A constraint to add to the declaration of a stream."""

    stream: str
    constraint: PunctuatedBy | OrderedBy | Check

    @property
    def present(self) -> str | None:
        """The column, if the constraint says that it is never NULL."""
        match self.constraint:
            case Check(condition=Expr(tree=exp.Not(this=exp.Is(this=exp.Column() as column)))):
                return column.name
            case _:
                return None

    @property
    def add(self) -> str:
        match self.constraint:
            case Check() if self.present is not None:
                return f"CHECK ({self.present} IS NOT NULL)"
            case Check(condition=condition):
                return f"CHECK ({text(condition)})"
            case promise:
                return constraint(promise)


Repair: TypeAlias = tuple[Addition, ...]


def repairs(plan: Plan) -> tuple[Repair, ...]:
    """Up to three of the same size; none if the query is safe or no constraint of a stream helps."""
    if next(open_proofs(plan), None) is None:
        return ()
    found = _Search(plan).smallest() if len(scans(plan)) <= _EXACT else None
    if found is None:
        greedy = _greedy(plan)
        return (greedy,) if greedy else ()
    return found


def amended(plan: Plan, additions: Iterable[Addition]) -> Plan:
    """The plan with the constraints added to every scan of their streams; a shared part is amended once."""
    added: dict[str, list[PunctuatedBy | OrderedBy | Check]] = {}
    for each in additions:
        added.setdefault(each.stream, []).append(each.constraint)
    done: dict[Plan, Plan] = {}
    for node in walk(plan):
        match node:
            case Scan(relation=Stream() as stream) if stream.name in added:
                more = (*stream.constraints, *added[stream.name])
                done[node] = replace(node, relation=replace(stream, constraints=more))
            case _:
                done[node] = with_inputs(node, tuple(done[each] for each in inputs(node)))
    return done[plan]


@dataclass
class _Search:
    """Iterative deepening, with what it has tried and found on the way."""

    plan: Plan
    tried: set[tuple[frozenset[Addition], int]] = field(default_factory=set)
    found: dict[frozenset[Addition], Repair] = field(default_factory=dict)

    def smallest(self) -> tuple[Repair, ...] | None:
        """None if it takes too long. A level on which no branch was cut off means that there is no repair."""
        for size in count(1):
            cut = self._level((), size)
            if self.found:
                return tuple(self.found.values())
            if len(self.tried) >= _TRIED:
                return None
            if not cut:
                return ()
        raise AssertionError("counting has no end")

    def _level(self, chosen: Repair, left: int) -> bool:
        """Whether a branch was cut off because it had too few constraints left."""
        key = frozenset(chosen)
        if (key, left) in self.tried or len(self.found) >= OFFERED or len(self.tried) >= _TRIED:
            return False
        self.tried.add((key, left))
        changed = amended(self.plan, chosen)
        derivation = derive(changed)
        proof = next(open_proofs(changed, derivation), None)
        if proof is None:
            self.found[key] = chosen
            return False
        steps = [each for each in dict.fromkeys(_steps(proof)) if each not in key]
        if left < max(_silent(derivation), 1):
            return bool(steps)
        cut = [self._level((*chosen, each), left - 1) for each in steps]  # each branch is taken
        return any(cut)


def _silent(derivation: Derivation) -> int:
    """How many streams need a constraint of their own: others wait for them, and they close nothing compared."""
    found: set[str] = set()
    for graph in derivation.graphs.values():
        heard = {offer.input for offer in graph.offers}
        for i in graph.streams if len(graph.streams) > 1 else ():
            below = scans(graph.join.inputs[i])
            if i not in heard and len(below) == 1:
                found.add(below[0].relation.name)
    return len(found)


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
        case Closing(barred=[_, *_]):
            for column in proof.barred:
                yield from _never_null(proof.kept, column)
            yield from _steps(replace(proof, barred=()))
        case Closing(node=Sort(keys=(first, *_)), source=source):
            if not first.descending:
                yield from _ordered(source, first.column)
        case Closing(node=Session(time=time, keys=keys), source=source):
            yield from _ordered(source, time)
            for column in keys:
                yield from _punctuated(source, column)
        case Closing(node=Frame(order=(first, *_), partition=partition), source=source, out=False):
            if not first.descending:
                yield from _ordered(source, first.column)
            for column in partition:
                yield from _punctuated(source, column)
        case Closing(source=source, keys=keys):
            for column in keys:
                yield from _punctuated(source, column)
            for column in keys:
                yield from _ordered(source, column, times=True)
            if isinstance(proof.node, Rank) and proof.few_entries and not proof.node.order[0].descending:
                yield from _ordered(source, proof.node.order[0].column, times=True)


def _punctuated(plan: Plan, column: str) -> Iterator[Addition]:
    for stream, name in bases(plan, column, through_order=False):
        yield Addition(stream.name, PunctuatedBy((name,)))


def _never_null(plan: Plan, column: str) -> Iterator[Addition]:
    for stream, name in bases(plan, column, through_order=True):
        present = exp.Not(this=exp.Is(this=exp.column(name), expression=exp.Null()))
        yield Addition(stream.name, Check(Expr(present, BOOLEAN)))


def _ordered(plan: Plan, column: str, *, times: bool = False) -> Iterator[Addition]:
    """`times`: nothing but dates and times; that keys rise is seldom true."""
    for stream, name in bases(plan, column, through_order=True):
        type = next(each.type for each in stream.columns if each.name == name)
        if type.temporal or (type.numeric and not times):
            yield Addition(stream.name, OrderedBy(name))
