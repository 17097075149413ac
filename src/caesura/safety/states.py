"""THEORY section 9: every operator state of a plan needs one proof, and each may have a different one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from caesura.catalog import ClosedBy, ClusteredBy, OrderedBy, Unique
from caesura.diagnostics import Span
from caesura.plan import Compare, Distinct, Frame, Group, Join, Need, Plan, Rank, Session, Sort, endless, walk
from caesura.safety import because
from caesura.safety.bounded import Lack
from caesura.safety.closing import Closing, closings
from caesura.safety.growth import Kept, kept_punctuations
from caesura.safety.names import SHOWN, Names, names, place, series
from caesura.safety.needs import needs
from caesura.safety.partners import read_once
from caesura.safety.reach import LONG, Reach, staying
from caesura.safety.schemes import Derivation, Derived, derive
from caesura.safety.summarise import summary
from caesura.safety.synopsis import Summary, Synopsis
from caesura.safety.tree import changed

By: TypeAlias = Literal["punctuation", "window", "synopsis", "static", "stateless"]


@dataclass(frozen=True)
class Finite:
    """The plans that nothing new comes from."""

    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Stateless:
    """No operator of the plan keeps anything."""


Proof: TypeAlias = Reach | Closing | Synopsis | Finite | Stateless


@dataclass(frozen=True)
class StateVerdict:
    """`proof` is the evidence for either answer; `by` is None iff the state is not bounded.

    `used` are the schemes that the proof relies on. `lack`: why no synopsis can stand for the rows of a join input
    that never leave.
    """

    operator: str
    input: str
    bounded: bool
    by: By | None
    because: str
    proof: Proof
    used: tuple[Derived, ...] = ()
    span: Span | None = field(default=None, compare=False)
    lack: Lack | None = None


@dataclass(frozen=True)
class Blocked:
    """An operator whose state is bounded but which nothing would ever let emit."""

    operator: str
    because: str
    node: Plan
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Judgement:
    """`kept`: the punctuations that operators keep, the second part of the verdict (section 7)."""

    states: tuple[StateVerdict, ...]
    blocked: tuple[Blocked, ...]
    kept: tuple[Kept, ...]
    names: Names
    derivation: Derivation


def judge(plan: Plan, beside: Iterable[Plan] = ()) -> Judgement:
    """`beside`: what else runs and may read the same streams."""
    derivation, called = derive(plan), names(plan)
    needed = needs(plan)
    states: list[StateVerdict] = []
    blocked: list[Blocked] = []
    for node in walk(plan):
        match node:
            case Join():
                summed = summary_of(node, derivation, needed)
                states += (_join_state(node, i, derivation, called, summed) for i in range(len(node.inputs)))
                blocked += _lonely(node, derivation, called)
            case Group() | Session() | Distinct() | Compare() | Sort() | Rank() | Frame():
                for closing in closings(node, derivation):
                    states.append(_closing_state(closing, derivation, called))
                    blocked += _blocked(closing, derivation, called)
            case _:
                pass  # the others keep nothing
    if not states:
        states.append(StateVerdict("query", "", True, "stateless", "it keeps no rows", Stateless()))
    kept = kept_punctuations(plan, derivation, called, read_once((plan, *beside)))
    return Judgement(tuple(states), tuple(blocked), kept, called, derivation)


def open_proofs(plan: Plan, derivation: Derivation | None = None) -> Iterator[Reach | Closing]:
    """The states without a proof, those of lower operators first: the search for repairs asks for nothing else."""
    derivation = derivation or derive(plan)
    needed = needs(plan)
    for node in walk(plan):
        match node:
            case Join():
                summed = summary_of(node, derivation, needed)
                for i in staying(reaches := derivation.reaches[node]):
                    if (reach := reaches[i]) is not None and (summed is None or summed.of(i) is None):
                        yield reach
            case Group() | Session() | Distinct() | Compare() | Sort() | Rank() | Frame():
                yield from (each for each in closings(node, derivation) if _proof(each, derivation) is None)
            case _:
                pass


def summary_of(join: Join, derivation: Derivation, needed: Mapping[Plan, Need]) -> Summary | None:
    """What synopses can do for an inner join, if rows of some input stay for ever."""
    stays = join.kind == "inner" and bool(staying(derivation.reaches[join]))
    return summary(join, needed[join]) if stays else None


def lack_of(plan: Plan, reach: Reach, derivation: Derivation) -> Lack | None:
    """Why no synopsis can stand for the rows of a join input of the plan that never leave."""
    found = summary_of(reach.join, derivation, needs(plan))
    lack = None if found is None else found.inputs[reach.start]
    return lack if isinstance(lack, Lack) else None


def summed(plan: Plan) -> Plan:
    """The plan, with every join told what its readers need of it where synopses stand for rows that stay."""
    derivation, needed = derive(plan), needs(plan)

    def told(old: Join, now: Join) -> Plan:
        found = summary_of(old, derivation, needed)
        used = found is not None and any(found.of(i) is not None for i in staying(derivation.reaches[old]))
        return replace(now, need=needed[old]) if used else now

    return changed(plan, told)


def _proof(closing: Closing, derivation: Derivation) -> By | None:
    """What bounds the state; None if nothing does."""
    if not endless(closing.kept) or not endless(closing.source):
        return "static"
    if closing.scheme is not None:
        promised = derivation.origin(closing.source, closing.scheme).promised
        return "window" if all(isinstance(each.promise, OrderedBy) for each in promised) else "punctuation"
    if not closing.few:
        return None
    return "static" if closing.single and not closing.values else "synopsis"


def _join_state(join: Join, i: int, derivation: Derivation, called: Names, summed: Summary | None) -> StateVerdict:
    operator, name, span = called.operators[join], called.input(join.inputs[i]), place(join.inputs[i])
    reach = derivation.reaches[join][i]
    if reach is None:
        why = because.finite(join.inputs[i], called)
        return StateVerdict(operator, name, True, "static", why, Finite((join.inputs[i],)), span=span)
    if not reach.complete:
        found = None if summed is None else summed.inputs[i]
        if isinstance(found, Synopsis):
            return StateVerdict(operator, name, True, "synopsis", because.summed(found, called), found, span=span)
        why = "; ".join(filter(None, (because.row_stays(reach, called), because.not_summed(join, found, called))))
        return StateVerdict(operator, name, False, None, why, reach, span=span, lack=found)
    if len(join.inputs) == 1 + len(reach.static):
        others = (plan for k, plan in enumerate(join.inputs) if k != i)
        why = series(tuple(because.finite(plan, called) for plan in others))
        return StateVerdict(operator, name, True, "static", why, reach, span=span)
    used = tuple(_used(reach, derivation))
    by: By = "punctuation" if reach.by_values else "window"
    return StateVerdict(operator, name, True, by, because.row_leaves(reach, derivation, called), reach, used, span)


def _used(reach: Reach, derivation: Derivation) -> Iterator[Derived]:
    """The schemes of the hops; of a very long join those that are shown, since each row has as many hops again."""
    hops = reach.hops if len(reach.join.inputs) <= LONG else reach.first_hops(SHOWN)
    return (derivation.origin(reach.join.inputs[hop.input], hop.scheme) for hop in hops)


def _closing_state(closing: Closing, derivation: Derivation, called: Names) -> StateVerdict:
    operator, name, by = called.operators[closing.node], called.input(closing.kept), _proof(closing, derivation)
    span = place(closing.kept) if isinstance(closing.node, Compare) else place(closing.node)
    finite = next((plan for plan in (closing.kept, closing.source) if not endless(plan)), None)
    if by is None:
        why = because.stays(closing, derivation, called)
        return StateVerdict(operator, name, False, None, why, closing, span=span)
    if finite is not None:
        return StateVerdict(operator, name, True, by, because.finite(finite, called), Finite((finite,)), span=span)
    if closing.scheme is not None:
        used = derivation.origin(closing.source, closing.scheme)
        return StateVerdict(
            operator, name, True, by, because.closed(closing, used, called), closing, (used,), span
        )
    return StateVerdict(operator, name, True, by, because.few_values(closing, called), closing, span=span)


def _blocked(closing: Closing, derivation: Derivation, called: Names) -> Iterator[Blocked]:
    """What needs no closing is complete only at the end of its input."""
    node, source = closing.node, called.shown(closing.source)
    if not endless(closing.source):
        return
    match node:
        case Group(emit="final") if closing.scheme is None and closing.few:
            what = "its one group" if closing.single else "its groups"
            why = f"nothing closes {what} before {source} ends"
        case Rank() if closing.scheme is None and closing.few:
            what = "its one partition" if closing.single else "its partitions"
            why = f"nothing closes {what} before {source} ends"
        case Session() if closing.scheme is None and closing.few:
            why = f"nothing closes its sessions before {source} ends"
        case Compare(kind="except", inputs=(first, _)) if closing.kept is first:
            by = _only_by_sending(derivation.schemes[closing.source])
            if by is not None:
                why = f"{source} closes a value only by sending it, by {by}"
            elif closing.scheme is None and (closing.few or not endless(closing.kept)):
                why = f"no row is certain to be missing from {source} before it ends"
            else:
                return
        case _:
            return
    yield Blocked(called.operators[node], why, node, place(node))


def _lonely(join: Join, derivation: Derivation, called: Names) -> Iterator[Blocked]:
    """A row without a partner comes out when the other input says that none comes any more, if it ever does."""
    graph = derivation.graphs[join]
    for i in join.lonely:
        mine, other = join.inputs[i], join.inputs[1 - i]
        row, shown = f"a row of {called.shown(mine)} without a partner", called.shown(other)
        if not endless(other):
            continue
        if not endless(mine) and 1 - i not in graph.closure((i,)).reached:
            why = f"{row} is certain to have none only when {shown} ends"
        else:
            offered = (derivation.origin(other, offer.scheme) for offer in graph.offers if offer.input != i)
            by = _only_by_sending(offered)
            if by is None:
                continue
            why = f"{row} stays: {shown} closes a value only by sending it, by {by}"
        yield Blocked(called.operators[join], why, join, place(mine))


def _only_by_sending(several: Iterable[Derived]) -> str | None:
    """The promises, if there are any and none of them ever speaks of a value that does not come."""
    promises = [promised.promise for derived in several for promised in derived.promised]
    sending = all(isinstance(each, Unique | ClusteredBy | ClosedBy) for each in promises)
    return series(tuple(dict.fromkeys(map(because.constraint, promises)))) if promises and sending else None
