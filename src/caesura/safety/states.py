"""THEORY section 9: every operator state of a plan needs one proof, and each may have a different one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from caesura.diagnostics import Span
from caesura.plan import Filter, Group, Join, Plan, Project, endless, walk
from caesura.safety import because
from caesura.safety.closing import Closing, closing
from caesura.safety.names import Names, alias_of, names, series
from caesura.safety.reach import Reach
from caesura.safety.schemes import Derivation, Derived, derive

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
    proof: Closing
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Judgement:
    states: tuple[StateVerdict, ...]
    blocked: tuple[Blocked, ...]
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
            case Group():
                state = _group_state(node, derivation, called)
                states.append(state)
                blocked += _blocked(state, called)
            case _:
                pass  # selections and projections keep nothing
    if not states:
        states.append(StateVerdict("query", "", True, "stateless", "it keeps no rows", Stateless()))
    return Judgement(tuple(states), tuple(blocked), called, derivation)


def _join_state(join: Join, i: int, derivation: Derivation, called: Names) -> StateVerdict:
    operator, name, span = called.operators[join], called.input(join.inputs[i]), place(join.inputs[i])
    reach = derivation.reaches[join][i]
    others = tuple(plan for k, plan in enumerate(join.inputs) if k != i)
    if reach is None:
        why = because.finite(join.inputs[i], called)
        return StateVerdict(operator, name, True, "static", why, Finite((join.inputs[i],)), span=span)
    if not reach.complete:
        why = because.row_stays(reach, called)
        return StateVerdict(operator, name, False, None, why, reach, span=span)
    if not reach.hops:
        why = series(tuple(because.finite(plan, called) for plan in others))
        return StateVerdict(operator, name, True, "static", why, reach, span=span)
    used = tuple(derivation.origin(join.inputs[hop.input], hop.scheme) for hop in reach.hops)
    by: By = "window" if any(hop.scheme.ordered for hop in reach.hops) else "punctuation"
    return StateVerdict(operator, name, True, by, because.row_leaves(reach, used, called), reach, used, span)


def _group_state(group: Group, derivation: Derivation, called: Names) -> StateVerdict:
    operator, name, span = called.operators[group], called.input(group.input), place(group)
    if not endless(group.input):
        why = because.finite(group.input, called)
        return StateVerdict(operator, name, True, "static", why, Finite((group.input,)), span=span)
    proof = closing(group, lambda node: (derived.scheme for derived in derivation.schemes[node]))
    if proof.scheme is not None:
        used = derivation.origin(group.input, proof.scheme)
        by: By = "window" if proof.scheme.ordered else "punctuation"
        why = because.group_leaves(proof, used, called)
        return StateVerdict(operator, name, True, by, why, proof, (used,), span)
    if proof.single:
        return StateVerdict(operator, name, True, "static", because.one_group(proof), proof, span=span)
    why = because.group_stays(proof, derivation, called)
    return StateVerdict(operator, name, False, None, why, proof, span=span)


def _blocked(state: StateVerdict, called: Names) -> Iterator[Blocked]:
    """A group that needs no closing is complete only at the end of its input."""
    match state.proof:
        case Closing(scheme=None, single=True, group=group):
            why = f"nothing closes its one group before {called.shown(group.input)} ends"
            yield Blocked(state.operator, why, state.proof, state.span)
        case _:
            pass


def place(plan: Plan) -> Span | None:
    """Where the user wrote it. A projection has a place of its own only if it stands for something in FROM."""
    match plan:
        case Project(input=below) if alias_of(plan) is None:
            return place(below)
        case Filter(input=below):
            return place(below)
        case _:
            return plan.span
