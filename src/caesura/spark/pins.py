"""Whose values a punctuation must speak of to close a row: columns that are equal wherever rows meet."""

from __future__ import annotations

from collections.abc import Collection

from caesura import plan
from caesura.operators.join import Hop
from caesura.safety.equality import matching_classes
from caesura.safety.reach import Reach


def chain(join: plan.Join, reach: Reach) -> tuple[Hop, ...]:
    """The proof's order. Each hop may use any punctuation on pinned attributes, not only those of its scheme."""
    known = {column.name for i in (reach.start, *reach.static) for column in join.inputs[i].columns}
    hops: list[Hop] = []
    for each in reach.hops:
        hops.append(hop(join, each.input, known))
        known |= {column.name for column in join.inputs[each.input].columns}
    return tuple(hops)


def hop(join: plan.Join, asked: int, known: Collection[str]) -> Hop:
    """The input that is asked, and what its columns must equal: columns known so far, or constants."""
    mine = {column.name for column in join.inputs[asked].columns}
    pins: dict[str, str] = {}
    constants: dict[str, str] = {}
    for each in matching_classes(join):
        available = [name for name in each.columns if name in known]
        for name in each.columns:
            if name in mine and available:
                pins[name] = available[0]
            elif name in mine and each.constant is not None:
                constants[name] = each.constant.sql
    return Hop(asked, pins, constants)


def alike(join: plan.Join, below: plan.Plan) -> tuple[tuple[str, str], ...]:
    """The columns of one input that must be equal in every result."""
    pairs: list[tuple[str, str]] = []
    for each in matching_classes(join):
        first, *others = [column.name for column in below.columns if column.name in each.columns] or [""]
        pairs += ((first, other) for other in others)
    return tuple(pairs)
