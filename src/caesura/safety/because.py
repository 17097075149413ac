"""Proofs as sentences: each says what lets a row or a group go, or what it waits for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caesura.catalog import (
    ClosedBy,
    ClusteredBy,
    CompleteBy,
    OrderedBy,
    Promise,
    PunctuatedBy,
    Unique,
)
from caesura.expression import Expr
from caesura.plan import Join, Plan, Scan, walk
from caesura.punctuation import Scheme
from caesura.safety.closing import Closing
from caesura.safety.equality import inexact
from caesura.safety.names import Names, bare, listed, series
from caesura.safety.reach import Reach, Unreached
from caesura.safety.schemes import Derivation, Derived


def constraint(promise: Promise) -> str:
    """A promise as it is written in a declaration."""
    match promise:
        case PunctuatedBy(columns=columns):
            return f"PUNCTUATED BY ({', '.join(columns)})"
        case Unique(columns=columns):
            return f"UNIQUE ({', '.join(columns)})"
        case ClusteredBy(columns=columns):
            return f"CLUSTERED BY ({', '.join(columns)})"
        case OrderedBy(column=column, slack=slack):
            return f"ORDERED BY ({column}{f' WITHIN {slack.sql}' if slack else ''})"
        case ClosedBy(columns=columns, condition=condition):
            return f"CLOSED BY ({', '.join(columns)}) WHEN {_text(condition)}"
        case CompleteBy(columns=columns, per=per, table=table):
            return f"COMPLETE BY ({', '.join(columns)}) PER ({', '.join(per)}) IN {table}"


def finite(plan: Plan, names: Names) -> str:
    """Why nothing new comes from a plan without streams."""
    relations = tuple(dict.fromkeys(names.shown(node) for node in walk(plan) if isinstance(node, Scan)))
    return f"{series(relations)} {'is' if len(relations) == 1 else 'are'} finite and read once"


def row_leaves(reach: Reach, used: Iterable[Derived], names: Names) -> str:
    """`used` are the schemes of the hops, in their order."""
    clauses = ", and ".join(closes(derived, names) for derived in used)
    return f"a row of {names.shown(reach.join.inputs[reach.start])} leaves when {clauses}"


def row_stays(reach: Reach, names: Names) -> str:
    why = "; ".join(reason for missing in reach.unreached for reason in unreached(reach.join, missing, names))
    waits = series(tuple(names.shown(reach.join.inputs[missing.input]) for missing in reach.unreached))
    return f"a row of {names.shown(reach.join.inputs[reach.start])} waits for {waits} for ever: {why}"


def unreached(join: Join, missing: Unreached, names: Names) -> Iterator[str]:
    """One reason per scheme that does not help."""
    shown = names.shown(join.inputs[missing.input])
    for candidate in missing.candidates:
        punctuates = _punctuates(shown, candidate.scheme)
        if len(candidate.unpinned) == len(candidate.scheme.attributes):
            yield f"{punctuates}, which this join does not pin"
        else:
            yield f"{punctuates}, of which this join does not pin {listed(candidate.unpinned)}"
    if not missing.candidates:
        yield f"{shown} promises no punctuations"


def useless_conditions(join: Join) -> Iterator[str]:
    """Conditions of the join that pin nothing, which may surprise."""
    for left, right in inexact(join):
        yield f"`{left} = {right}` pins nothing: of these types one value may equal several"
    if join.residual is not None:
        yield f"`{_text(join.residual)}` pins nothing: only an equality of two columns of one type does"


def group_leaves(closing: Closing, derived: Derived, names: Names) -> str:
    return f"a group of {names.shown(closing.group.input)} leaves when {closes(derived, names)}"


def group_stays(closing: Closing, derivation: Derivation, names: Names) -> str:
    return f"a group of {names.shown(closing.group.input)} never closes: " + "; ".join(
        not_closed(closing, derivation, names)
    )


def not_closed(closing: Closing, derivation: Derivation, names: Names) -> Iterator[str]:
    """One reason per scheme that closes no group, and the joins that let none through."""
    shown = names.shown(closing.group.input)
    for outside in closing.outside:
        verb = "is" if len(outside.attributes) == 1 else "are"
        yield f"{_punctuates(shown, outside.scheme)}, but {listed(outside.attributes)} {verb} not grouped by"
    if not closing.outside:
        yield f"no punctuation comes from {shown}"
    for node in walk(closing.group.input):
        if isinstance(node, Join):
            for reach in derivation.reaches[node]:
                if reach is not None and not reach.complete:
                    lost = names.shown(node.inputs[reach.start])
                    yield f"{names.shown(node)} keeps {lost} for ever and so passes none of its punctuations on"


def one_group(closing: Closing) -> str:
    return "there is one group" + (", because its keys are constant" if closing.group.keys else "")


def closes(derived: Derived, names: Names) -> str:
    stream = names.shown(derived.scan)
    match derived.promise:
        case OrderedBy(column=column):
            return f"{stream} has passed its {column}: {constraint(derived.promise)}"
        case promise:
            return f"{stream} closes its {listed(promise.columns)}: {constraint(promise)}"


def _punctuates(shown: str, scheme: Scheme) -> str:
    attributes = ", ".join(map(bare, scheme.attributes))
    return f"{shown} {'is ordered by' if scheme.ordered else 'punctuates'} ({attributes})"


def _text(expr: Expr) -> str:
    return expr.sql.replace("`", "")
