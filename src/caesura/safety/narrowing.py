"""THEORY section 10, the other kind of repair: CHECKs that leave columns few values, so that synopses will do.

What is missing is told by the states that are open: an attribute that a synopsis would have to know, or a key that
takes values without end. Each gets ends; the figures are examples, and the query with them is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from sqlglot import exp

from caesura.catalog import Check
from caesura.expression import Expr
from caesura.plan import Frame, Plan, Session, Sort
from caesura.safety.bases import bases
from caesura.safety.closing import Closing
from caesura.safety.comparisons import Interval
from caesura.safety.facts import closed, domain
from caesura.safety.reach import Reach
from caesura.safety.repair import Addition, Repair, amended
from caesura.safety.said import discrete, limits
from caesura.safety.schemes import Derivation, derive
from caesura.safety.states import lack_of, open_proofs
from caesura.types import BOOLEAN, Type

_MOST = 2
"""More CHECKs than that are no advice."""
_VALUES = 1000
"""So many values are left, as an example."""


def narrowing(plan: Plan) -> Repair | None:
    """CHECKs that make the query safe, with none to spare; None if it takes more than that, or too many."""
    chosen: Repair = ()
    while True:
        changed = amended(plan, chosen)
        derivation = derive(changed)
        proof = next(open_proofs(changed, derivation), None)
        if proof is None:
            break
        more = tuple(each for each in _ends(changed, proof, derivation) if each not in chosen)
        if not more or len(chosen) + len(more) > _MOST:
            return None
        chosen = (*chosen, *more)
    for addition in chosen:
        fewer = tuple(each for each in chosen if each != addition)
        if next(open_proofs(amended(plan, fewer)), None) is None:
            chosen = fewer
    return chosen or None


def halfway(addition: Addition) -> bool:
    """Whether it adds the other end to a column that has one."""
    return isinstance(addition.constraint, Check) and isinstance(
        addition.constraint.condition.tree, exp.LT | exp.GT
    )


def _ends(plan: Plan, proof: Reach | Closing, derivation: Derivation) -> Iterator[Addition]:
    match proof:
        case Reach(join=join, start=start):
            lack = lack_of(plan, proof, derivation)
            if lack is not None and isinstance(lack.attribute, str):
                known = closed(join).interval(lack.attribute)
                yield from _between(join.inputs[start], lack.attribute, known)
        case Closing(node=Sort() | Session()) | Closing(node=Frame(), out=False):
            return
        case Closing(kept=kept, keys=keys):
            growing = (each.column for each in proof.growing) if proof.few_entries else ()
            for column in (*keys, *growing):
                if domain(kept, column) is None:
                    yield from _between(kept, column, closed(kept).interval(column))


def _between(plan: Plan, column: str, known: Interval) -> Iterator[Addition]:
    """A CHECK of the first stream whose values the column has."""
    base = next(bases(plan, column, through_order=False), None)
    if base is None:
        return
    stream, name = base
    type = next(each.type for each in stream.columns if each.name == name)
    if discrete(type):
        yield Addition(stream.name, Check(Expr(_condition(name, known, type), BOOLEAN)))


def _condition(name: str, known: Interval, type: Type) -> exp.Expr:
    column = exp.column(name)
    least, greatest = limits(type)
    if known.low is not None and known.high is None:
        return exp.LT(this=column, expression=_value(min(known.low + _VALUES, greatest), type))
    if known.high is not None and known.low is None:
        return exp.GT(this=column, expression=_value(max(known.high - _VALUES, least), type))
    low = date(2026, 1, 1).toordinal() if type.kind == "DATE" else 0
    return exp.Between(this=column, low=_value(low, type), high=_value(low + _VALUES - 1, type))


def _value(number: int, type: Type) -> exp.Expr:
    if type.kind == "DATE":
        return exp.cast(exp.Literal.string(date.fromordinal(number).isoformat()), "DATE")
    return exp.Literal.number(number) if number >= 0 else exp.Neg(this=exp.Literal.number(-number))
