"""Conjunctive queries at random: streams S, T, U, attributes compared with one another and with constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from caesura.safety.bounded import Conjunctive
from caesura.safety.comparisons import ZERO, Comparison, Element, closure, equal


def drawn(chance: Random, *, streams: int = 3, attributes: int = 2, conditions: int = 6) -> Conjunctive:
    """Bag or set semantics, some attributes projected."""
    names = [
        tuple(f"{stream}.{name}" for name in "abc"[: chance.randint(1, attributes)])
        for stream in "STU"[: chance.randint(1, streams)]
    ]
    every = [name for several in names for name in several]
    constants = [chance.randint(0, 3) for _ in range(chance.randint(0, 2))]
    said: list[Comparison] = []
    for _ in range(chance.randint(0, conditions)):
        x, y = chance.choice(every), chance.choice([*every, *[None] * len(constants)])
        if x != y:
            other, more = (ZERO, chance.choice(constants)) if y is None else (y, 0)
            said += compared(x, chance.choice(("<", "<=", "=", ">", ">=", "<", ">")), other, more)
    for several in names:  # a filter may also say by how much two attributes of a stream differ
        if len(several) > 1 and chance.random() < 0.2:
            said += compared(several[0], chance.choice(("=", "<=", ">=")), several[1], chance.choice((-1, 1, 2)))
    exact = frozenset(name for name in every if chance.random() < 0.15)
    return Conjunctive(tuple(names), closure(said), exact, duplicates=chance.random() < 0.4)


def aggregated(chance: Random, query: Conjunctive) -> Conjunctive:
    """The same with MAX, MIN and other aggregates over some of the attributes that are not projected."""
    kinds = [(each, chance.choice((None, None, None, "loose", "greatest", "least"))) for each in query.owner]
    free = {kind: frozenset(e for e, k in kinds if k == kind and e not in query.exact) for _, kind in kinds}
    none = frozenset[Element]()
    return replace(
        query,
        loose=free.get("loose", none),
        greatest=free.get("greatest", none),
        least=free.get("least", none),
    )


def compared(x: Element, op: str, y: Element, more: int = 0) -> tuple[Comparison, ...]:
    """`x op y + more`"""
    match op:
        case "<":
            return (Comparison(x, y, more - 1),)
        case "<=":
            return (Comparison(x, y, more),)
        case ">":
            return (Comparison(y, x, -more - 1),)
        case ">=":
            return (Comparison(y, x, -more),)
        case _:
            return equal(x, y, more)


def satisfied(query: Conjunctive, row: Mapping[Element, int]) -> bool:
    """Whether values of some attributes, of one stream or several, satisfy all that is said of them."""
    known = {**row, ZERO: 0}
    return all(
        known[each.lesser] <= known[each.greater] + each.more
        for each in query.known.comparisons
        if each.lesser in known and each.greater in known
    )
