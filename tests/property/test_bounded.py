"""Bounded memory: the polynomial test against the theorem it stands for, and both against what is told apart."""

from __future__ import annotations

from itertools import product
from random import Random
from time import perf_counter
from typing import TypeAlias

from caesura.safety.bounded import Conjunctive, by_orders, lacks
from caesura.safety.comparisons import ZERO, Comparison, Element, closure
from tests.property.conjunctive import aggregated, compared, drawn, satisfied


def test_the_polynomial_test_agrees_with_the_expansion_into_all_orders() -> None:
    bounded = 0
    for seed in range(5000):
        chance = Random(seed)
        query = drawn(chance)
        query = aggregated(chance, query) if seed % 3 == 0 else query
        expected = by_orders(query)
        assert frozenset(lacks(query)) == expected, (seed, query)
        bounded += len(query.streams) > 1 and query.known.satisfiable and not expected
    assert bounded > 500


Told: TypeAlias = frozenset[tuple[object, ...]]


def growth(query: Conjunctive, stream: int, reach: int) -> int:
    """k(N) of THEORY section 12 for rows of one stream with values from −N to N.

    With duplicates: the number of rows that no continuation by the other stream takes for one another. Without:
    the most rows of which none tells all that another does. Any set of rows tells what those of it tell that no
    other contains, so that k is at most that; and where k grows, the paper's rows each have a continuation of
    their own.
    """
    (mine, theirs) = (query.streams[stream], query.streams[1 - stream])
    values = range(-reach, reach + 1)
    rows = [dict(zip(mine, cells, strict=True)) for cells in product(values, repeat=len(mine))]
    partners = [dict(zip(theirs, cells, strict=True)) for cells in product(values, repeat=len(theirs))]
    told: set[Told] = set()
    for row in rows:
        if satisfied(query, row):
            told.add(
                frozenset(
                    (number, *(both[each] for each in sorted(query.exact, key=str)))
                    for number, partner in enumerate(partners)
                    if satisfied(query, both := {**row, **partner})
                )
            )
    told.discard(frozenset())
    return len(told) if query.duplicates else _width(list(told))


def _width(told: list[Told]) -> int:
    """The most of which none contains another: by Dilworth, the fewest chains, which a matching finds."""
    larger = {one: [other for other in told if one < other] for one in told}
    next_of: dict[Told, Told] = {}

    def placed(one: Told, seen: set[Told]) -> bool:
        for other in larger[one]:
            if other not in seen:
                seen.add(other)
                if other not in next_of or placed(next_of[other], seen):
                    next_of[other] = one
                    return True
        return False

    return len(told) - sum(placed(one, set()) for one in told)


def test_both_agree_with_the_growth_of_what_continuations_tell_apart() -> None:
    open_streams = 0
    for seed in range(800):
        chance = Random(seed)
        query = drawn(chance, streams=2, attributes=2, conditions=4)
        if len(query.streams) < 2 or any(abs(each) > 1 for each in query.constants):
            continue
        lacking = frozenset(lacks(query))
        for stream in (0, 1):
            smaller, larger = growth(query, stream, 3), growth(query, stream, 5)
            assert (larger > smaller) == (stream in lacking), (seed, stream, query)
        open_streams += len(lacking)
    assert open_streams > 100


def test_a_large_query_is_decided_in_less_than_two_seconds() -> None:
    chance = Random(0)
    streams = tuple(tuple(f"s{i}.a{k}" for k in range(4)) for i in range(30))
    every = [name for several in streams for name in several]
    said: list[Comparison] = []
    while len(said) < 200:  # along an order of all attributes, so that they do not contradict one another
        x, y = sorted(chance.sample(range(len(every)), 2))
        said += compared(every[x], "<", every[y])
    first = [several[0] for several in streams]
    pairs = [(x, y) for x in first[:15] for y in first[15:]]
    apart = [c for x, y in chance.sample(pairs, 200) for c in compared(x, "<", y)]
    bounded = [(*apart, *_all_between(every[1::4], 0, 100)), (*said, *_all_between(every, 0, 1000))]
    for duplicates in (True, False):
        for conditions in (said, *bounded):
            query = Conjunctive(streams, closure(conditions), frozenset(every[1::4]), duplicates)
            started = perf_counter()
            found = lacks(query)
            assert perf_counter() - started < 2
            assert bool(found) is (conditions is said or (duplicates and conditions is bounded[0]))


def _all_between(attributes: list[str], low: int, high: int) -> tuple[Comparison, ...]:
    ends: tuple[tuple[Element, str, int], ...] = tuple(
        end for each in attributes for end in ((each, ">", low), (each, "<", high))
    )
    return tuple(c for each, op, value in ends for c in compared(each, op, ZERO, value))
