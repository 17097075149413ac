"""Demand that goes through groups, DISTINCT and projections, down to a join below them (THEORY section 11).

A semi join is the gate. A join, the consumer, compares a column that an inner join further down, the producer, has
of one of its inputs X. That input becomes X ⋉ Y, Y being what the consumer compares the column with: a row of X is
joined once a row of Y can use it, and a punctuation of X waits until no waiting row matches it. If Y is finite,
nothing waits: what has no partner there is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

from caesura.expression import column
from caesura.plan import (
    Equality,
    Join,
    Output,
    Plan,
    Project,
    Query,
    endless,
    inputs,
    types_of,
    walk,
)
from caesura.planning.cost import CostModel
from caesura.planning.demand import Demand
from caesura.planning.enumerate import SafeTrees
from caesura.planning.prompt import prompt
from caesura.planning.statistics import UNKNOWN, Statistics
from caesura.producers import asked_of, demanding, sources
from caesura.safety.redundant import without_redundant
from caesura.safety.schemes import Promised
from caesura.safety.states import Judgement, judge
from caesura.safety.tree import changed, shaped

FEW = 1 / 3
"""Without a hint, a stream is asked only if it is expected to want fewer of the rows."""


_WAITS = "they wait already"


@dataclass(frozen=True)
class Gate:
    """An input of the producer waits for an input of the consumer. Both are known by their places among the joins
    of the plan, inputs first, with the gates before it in place; `columns` are those of the two inputs that are
    equal."""

    consumer: int
    by: int
    producer: int
    input: int
    columns: tuple[tuple[str, str], ...]


def gates(query: Query, measured: Statistics = UNKNOWN, beside: Iterable[Query] = ()) -> tuple[Gate, ...]:
    """Those that pay, or that a hint asks for. `beside`: the queries that run with it: a join that another one
    reads stays as it is, and so stays one."""
    if query.kind == "stream" or not any(map(demanding, _joins(query.plan))):
        return ()
    plan, others, found = query.plan, _running(beside), list[Gate]()
    if without_redundant(plan) != plan:
        return ()  # a stream that another stands for is read once only where it is joined as it is
    while (
        gate := next((g for g in _candidates(plan) if not _refusal(plan, g, measured, others)), None)
    ) is not None:
        plan = _gated(plan, gate)
        found.append(gate)
    return tuple(found)


@dataclass(frozen=True)
class Unheard:
    """A hint asks for demand, and rows of a join below do not wait for the other input."""

    rows: Plan
    by: Plan
    because: str


def unheard(
    query: Query, several: Iterable[Gate], measured: Statistics = UNKNOWN, beside: Iterable[Query] = ()
) -> tuple[Unheard, ...]:
    """What becomes of a hint beyond these gates."""
    plan, others = reduce(_gated, several, query.plan), _running(beside)
    redundant = without_redundant(query.plan) != query.plan
    joins, found = _joins(plan), list[Unheard]()
    for gate in _candidates(plan) if query.kind != "stream" else ():
        consumer = joins[gate.consumer]
        why = "a stream that stands for another one is read only once" if redundant else None
        why = why or _refusal(plan, gate, measured, others)
        if consumer.demand and why is not None and why != _WAITS:
            found.append(Unheard(joins[gate.producer].inputs[gate.input], consumer.inputs[gate.by], why))
    return tuple(dict.fromkeys(found))


def gated(query: Query, several: Iterable[Gate]) -> Query:
    """The query with its gates. A join of two makes no partial results itself: what was asked of it is done."""
    plan = changed(
        reduce(_gated, several, query.plan),
        lambda old, now: now if len(now.inputs) > 2 else replace(now, demand=None),
    )
    return replace(query, plan=plan)


def added(before: Plan, after: Plan) -> tuple[Join, ...]:
    """The semi joins that are gates."""
    known = set(walk(before))
    return tuple(node for node in _joins(after) if node.kind == "semi" and node not in known)


def _running(queries: Iterable[Query]) -> tuple[Plan, ...]:
    return tuple(each.plan for each in queries if each.kind != "stream")


def _joins(plan: Plan) -> list[Join]:
    return [node for node in walk(plan) if isinstance(node, Join)]


def _candidates(plan: Plan) -> Iterator[Gate]:
    """Finite inputs first, and the lowest producers; all columns that two inputs are compared by at once."""
    joins = _joins(plan)
    found: dict[tuple[int, int, int, int], dict[tuple[str, str], None]] = {}
    order: dict[tuple[int, int, int, int], tuple[bool, int]] = {}
    for q, consumer in enumerate(joins):
        for source, by, theirs in asked_of(consumer):
            key = q, by, joins.index(source.join), source.input
            found.setdefault(key, {})[source.name, theirs] = None
            order[key] = endless(consumer.inputs[by]), -source.depth
    for key in sorted(found, key=order.__getitem__):
        yield Gate(*key, tuple(found[key]))


def _gated(plan: Plan, gate: Gate) -> Plan:
    joins = _joins(plan)
    producer = joins[gate.producer]

    def change(old: Join, now: Join) -> Plan:
        if old != producer:
            return now
        waiting = _waiting(now.inputs[gate.input], joins[gate.consumer].inputs[gate.by], gate)
        return replace(now, inputs=(*now.inputs[: gate.input], waiting, *now.inputs[gate.input + 1 :]))

    return changed(plan, change)


def _waiting(rows: Plan, by: Plan, gate: Gate) -> Join:
    """Rows that wait for others. The aliases of a subquery may be those of the query around it."""
    taken = {each.name for each in rows.columns}
    names = {theirs: theirs for _, theirs in gate.columns}
    if not taken.isdisjoint(each.name for each in by.columns):
        types = types_of(by)
        for name in names:
            while names[name] in taken:
                names[name] += " wanted"
        by = Project(by, tuple(Output(new, column(old, types[old])) for old, new in names.items()), by.span)
    equalities = tuple(Equality(mine, names[theirs]) for mine, theirs in gate.columns)
    return Join((rows, by), equalities, kind="semi", span=rows.span)


def _refusal(plan: Plan, gate: Gate, measured: Statistics, others: tuple[Plan, ...]) -> str | None:
    """Why a gate is not worth it, would change more than what is joined when, or is not safe; None if it opens."""
    joins = _joins(plan)
    consumer, producer = joins[gate.consumer], joins[gate.producer]
    rows, by = producer.inputs[gate.input], consumer.inputs[gate.by]
    if consumer.demand is False:
        return "a hint forbids it"
    if sum(map(endless, producer.inputs)) < 2 or not endless(rows):
        return "the join below makes no partial results of two streams"
    if _waits_already(plan, gate):
        return _WAITS
    if _shared(plan, producer, others):
        return "the join below has other readers, too"
    asked = (source for source, by, _ in asked_of(consumer) if by == gate.by and source.join == producer)
    columns = [source for source in asked if source.input == gate.input]
    if endless(by) and not _pays(consumer, _waiting(rows, by, gate), measured):
        return "it is not expected to pay"
    if endless(by) and not prompt(plan, consumer, columns):
        return "punctuations would wait with the rows, and results could come later than without"
    if not _no_worse(judge(shaped(_gated(plan, gate)), others), judge(shaped(plan), others)):
        return "some rows would wait for ever"
    return None


def _waits_already(plan: Plan, gate: Gate) -> bool:
    """For the same input of the consumer, by one of the columns, there or further down."""
    joins = _joins(plan)
    by, waiting = joins[gate.consumer].inputs[gate.by], joins[gate.producer].inputs[gate.input]

    def gate_of(node: Plan, mine: str) -> bool:
        match node:
            case Join(kind="semi", inputs=(below, other), equalities=equalities):
                same = other == by or (isinstance(other, Project) and other.input == by)
                return (same and any(e.left == mine for e in equalities)) or gate_of(below, mine)
            case _:
                further = sources(node, mine)
                return any(gate_of(each.join.inputs[each.input], each.name) for each in further)

    return any(gate_of(waiting, mine) for mine, _ in gate.columns)


def _shared(plan: Plan, producer: Join, others: tuple[Plan, ...]) -> bool:
    """Whether the producer, or what is made of it, has several readers."""
    if any(producer == node for other in others for node in walk(other)):
        return True
    nodes = tuple(walk(plan))
    readers = Counter(below for node in nodes for below in inputs(node))
    return any(readers[node] > 1 for node in nodes if any(producer == below for below in walk(node)))


def _pays(consumer: Join, waiting: Join, measured: Statistics) -> bool:
    """Whether a stream is to be asked."""
    statistics = measured.of(waiting)
    if consumer.demand or statistics.made_up:
        return consumer.demand is True
    demand = Demand(CostModel(SafeTrees(replace(waiting, kind="inner")), statistics))
    return demand.wanted(frozenset((0,)), (demand.sources[1],)) < FEW


def _no_worse(now: Judgement, before: Judgement) -> bool:
    """Whether all rows leave some day, and no more is blocked or grows than before. A synopsis is made for a join
    as it stands."""
    leave = all(state.bounded and state.by != "synopsis" for state in now.states)
    return leave and len(now.blocked) <= len(before.blocked) and _growing(now) <= _growing(before)


def _growing(judgement: Judgement) -> set[Promised]:
    """The promises that leave a punctuation for each key."""
    return {each for kept in judgement.kept if kept.by is None for each in kept.derived.promised}
