"""THEORY section 9: every operator state of a plan needs one proof, and each may have a different one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from caesura.diagnostics import Span
from caesura.plan import Compare, Distinct, Group, Join, Plan, Sort, endless, walk
from caesura.safety import because
from caesura.safety.closing import Closing, closings
from caesura.safety.growth import Kept, kept_punctuations
from caesura.safety.names import SHOWN, Names, names, place, series
from caesura.safety.reach import Reach
from caesura.safety.schemes import Derivation, Derived, derive

_LONG = 100
"""Joins of more inputs are explained by their first hops."""

By: TypeAlias = Literal["punctuation", "window", "synopsis", "static", "stateless"]


@dataclass(frozen=True)
class Finite:
    """The plans that nothing new comes from."""

    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Stateless:
    """No operator of the plan keeps anything."""


Proof: TypeAlias = Reach | Closing | Finite | Stateless


@dataclass(frozen=True)
class StateVerdict:
    """`proof` is the evidence for either answer; `by` is None iff the state is not bounded.

    `used` are the schemes that the proof relies on.
    """

    operator: str
    input: str
    bounded: bool
    by: By | None
    because: str
    proof: Proof
    used: tuple[Derived, ...] = ()
    span: Span | None = field(default=None, compare=False)


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


def judge(plan: Plan) -> Judgement:
    derivation, called = derive(plan), names(plan)
    states: list[StateVerdict] = []
    blocked: list[Blocked] = []
    for node in walk(plan):
        match node:
            case Join():
                states += (_join_state(node, i, derivation, called) for i in range(len(node.inputs)))
                blocked += _lonely(node, derivation, called)
            case Group() | Distinct() | Compare() | Sort():
                for closing in closings(node, derivation):
                    states.append(_closing_state(closing, derivation, called))
                    blocked += _blocked(closing, called)
            case _:
                pass  # the others keep nothing
    if not states:
        states.append(StateVerdict("query", "", True, "stateless", "it keeps no rows", Stateless()))
    kept = kept_punctuations(plan, derivation, called)
    return Judgement(tuple(states), tuple(blocked), kept, called, derivation)


def open_proofs(plan: Plan) -> Iterator[Reach | Closing]:
    """The states without a proof, those of lower operators first: the search for repairs asks for nothing else."""
    derivation = derive(plan)
    for node in walk(plan):
        match node:
            case Join():
                yield from (each for each in derivation.reaches[node] if each is not None and not each.complete)
            case Group() | Distinct() | Compare() | Sort():
                yield from (each for each in closings(node, derivation) if _open(each))
            case _:
                pass


def _open(closing: Closing) -> bool:
    endless_ = endless(closing.kept) and endless(closing.source)
    return endless_ and closing.scheme is None and not closing.few


def _join_state(join: Join, i: int, derivation: Derivation, called: Names) -> StateVerdict:
    operator, name, span = called.operators[join], called.input(join.inputs[i]), place(join.inputs[i])
    reach = derivation.reaches[join][i]
    if reach is None:
        why = because.finite(join.inputs[i], called)
        return StateVerdict(operator, name, True, "static", why, Finite((join.inputs[i],)), span=span)
    if not reach.complete:
        why = because.row_stays(reach, called)
        return StateVerdict(operator, name, False, None, why, reach, span=span)
    if len(join.inputs) == 1 + len(reach.static):
        others = (plan for k, plan in enumerate(join.inputs) if k != i)
        why = series(tuple(because.finite(plan, called) for plan in others))
        return StateVerdict(operator, name, True, "static", why, reach, span=span)
    used = tuple(_used(reach, derivation))
    by: By = "punctuation" if reach.by_values else "window"
    return StateVerdict(operator, name, True, by, because.row_leaves(reach, derivation, called), reach, used, span)


def _used(reach: Reach, derivation: Derivation) -> Iterator[Derived]:
    """The schemes of the hops; of a very long join those that are shown, since each row has as many hops again."""
    hops = reach.hops if len(reach.join.inputs) <= _LONG else reach.first_hops(SHOWN)
    return (derivation.origin(reach.join.inputs[hop.input], hop.scheme) for hop in hops)


def _closing_state(closing: Closing, derivation: Derivation, called: Names) -> StateVerdict:
    operator, name = called.operators[closing.node], called.input(closing.kept)
    span = place(closing.kept) if isinstance(closing.node, Compare) else place(closing.node)
    if not endless(closing.kept) or not endless(closing.source):
        plan = closing.source if endless(closing.kept) else closing.kept
        return StateVerdict(
            operator, name, True, "static", because.finite(plan, called), Finite((plan,)), span=span
        )
    if closing.scheme is not None:
        used = derivation.origin(closing.source, closing.scheme)
        by: By = "window" if closing.scheme.ordered else "punctuation"
        why = because.closed(closing, used, called)
        return StateVerdict(operator, name, True, by, why, closing, (used,), span)
    if closing.few:
        few: By = "static" if closing.single else "synopsis"
        return StateVerdict(operator, name, True, few, because.few_values(closing, called), closing, span=span)
    why = because.stays(closing, derivation, called)
    return StateVerdict(operator, name, False, None, why, closing, span=span)


def _blocked(closing: Closing, called: Names) -> Iterator[Blocked]:
    """What needs no closing is complete only at the end of its input."""
    node, source = closing.node, called.shown(closing.source)
    if closing.scheme is not None or not endless(closing.source):
        return
    match node:
        case Group(emit="final") if closing.few:
            what = "its one group" if closing.single else "its groups"
            yield Blocked(called.operators[node], f"nothing closes {what} before {source} ends", node, place(node))
        case Compare(kind="except") if closing.kept is node.inputs[0] and (
            closing.few or not endless(closing.kept)
        ):
            why = f"no row is certain to be missing from {source} before it ends"
            yield Blocked(called.operators[node], why, node, place(node))
        case _:
            pass


def _lonely(join: Join, derivation: Derivation, called: Names) -> Iterator[Blocked]:
    """A row of a table without a partner waits for the stream that never says there is none."""
    for i in join.lonely:
        other = join.inputs[1 - i]
        if endless(join.inputs[i]) or not endless(other):
            continue
        if 1 - i not in derivation.graphs[join].closure((i,)).reached:
            shown = called.shown(join.inputs[i])
            why = (
                f"a row of {shown} without a partner is certain to have none only when {called.shown(other)} ends"
            )
            yield Blocked(called.operators[join], why, join, place(join.inputs[i]))
