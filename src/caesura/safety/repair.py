"""THEORY section 10, first step: constraints on the base streams that make a refused query safe.

Greedy: one constraint at a time, each tried by checking the changed plan, until no state is left open; then
whatever proved needless is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from caesura.catalog import PunctuatedBy, Stream
from caesura.plan import Filter, Group, Join, Plan, Project, Scan
from caesura.safety.because import constraint
from caesura.safety.closing import Closing
from caesura.safety.equality import equality_classes
from caesura.safety.reach import Reach
from caesura.safety.states import Judgement, StateVerdict, judge


@dataclass(frozen=True)
class Addition:
    """A constraint to add to the declaration of a stream."""

    stream: str
    constraint: PunctuatedBy

    @property
    def add(self) -> str:
        return constraint(self.constraint)


Repair: TypeAlias = tuple[Addition, ...]


def repairs(plan: Plan, judgement: Judgement) -> tuple[Repair, ...]:
    """At most one repair for now; none if the query is safe or no constraint of a base stream helps."""
    chosen: Repair = ()
    while (open_ := _open(judgement)) > 0:
        tried = ((c, judge(amended(plan, (*chosen, c)))) for c in _candidates(judgement))
        better = min(((_open(j), n, c, j) for n, (c, j) in enumerate(tried)), default=None, key=lambda t: t[:2])
        if better is None or better[0] >= open_:
            return ()
        chosen, judgement = (*chosen, better[2]), better[3]
    for addition in chosen:
        fewer = tuple(each for each in chosen if each != addition)
        if _open(judge(amended(plan, fewer))) == 0:
            chosen = fewer
    return (chosen,) if chosen else ()


def amended(plan: Plan, additions: Iterable[Addition]) -> Plan:
    """The plan with the constraints added to every scan of their streams."""
    match plan:
        case Scan(relation=Stream() as stream):
            added = (a.constraint for a in additions if a.stream == stream.name)
            return replace(plan, relation=replace(stream, constraints=(*stream.constraints, *added)))
        case Scan():
            return plan
        case Join(inputs=several):
            return replace(plan, inputs=tuple(amended(each, additions) for each in several))
        case Filter(input=below) | Project(input=below) | Group(input=below):
            return replace(plan, input=amended(below, additions))


def _open(judgement: Judgement) -> int:
    """How much is still missing: inputs that are not reached, and groups that nothing closes."""
    return sum(_missing(state) for state in judgement.states if not state.bounded)


def _missing(state: StateVerdict) -> int:
    return len(state.proof.unreached) if isinstance(state.proof, Reach) else 1


def _candidates(judgement: Judgement) -> Iterator[Addition]:
    """Single columns that would be pinned (join) or grouped by, for the first state that is open.

    One attribute is enough: a scheme with more promises less and needs more pins.
    """
    state = next(state for state in judgement.states if not state.bounded)
    match state.proof:
        case Reach(join=join, unreached=unreached):
            wanted = ((join.inputs[each.input], column) for each in unreached for column in each.pinned)
        case Closing(group=group):
            equal = {column: each.columns for each in equality_classes(group.input) for column in each.columns}
            wanted = ((group.input, column) for key in group.keys for column in equal.get(key, (key,)))
        case _:
            return
    found = (base for plan, column in wanted if (base := _base(plan, column)) is not None)
    for stream, name in dict.fromkeys(found):
        yield Addition(stream, PunctuatedBy((name,)))


def _base(plan: Plan, column: str) -> tuple[str, str] | None:
    """The base stream and column that `column` carries unchanged, if a punctuation can speak of it."""
    match plan:
        case Scan(relation=Stream(name=stream, columns=columns), alias=alias):
            name = column.removeprefix(f"{alias}.")
            return (stream, name) if any(c.name == name and c.type.scalar for c in columns) else None
        case Scan():
            return None
        case Filter(input=below):
            return _base(below, column)
        case Project(input=below, outputs=outputs):
            source = next(output.expr.column for output in outputs if output.name == column)
            return None if source is None else _base(below, source)
        case Group(input=below, keys=keys):
            return _base(below, column) if column in keys else None
        case Join(inputs=several):
            owner = next(each for each in several if any(c.name == column for c in each.columns))
            return _base(owner, column)
