"""The rows of a witness are told apart: for each there is a continuation whose answer changes without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

from caesura.safety.bounded import Conjunctive, lacks
from caesura.safety.comparisons import Element
from caesura.safety.spread import spread
from tests.property.conjunctive import drawn, satisfied

ROWS = 4
Values = Mapping[Element, int]


def answer(query: Conjunctive, streams: Sequence[Sequence[Values]]) -> object:
    """All results over these rows of each stream."""
    joined = ({name: value for row in rows for name, value in row.items()} for rows in product(*streams))
    given = Counter(
        tuple(row[name] for name in sorted(query.exact, key=str)) for row in joined if satisfied(query, row)
    )
    return given if query.duplicates else set(given)


def test_no_two_sets_of_rows_of_a_witness_have_the_same_continuations() -> None:
    tried = Counter[str]()
    for seed in range(3000):
        query = drawn(Random(seed))
        if len(query.streams) < 2:
            continue
        for i, lack in lacks(query).items():
            found = spread(query.known, lack, frozenset(query.streams[i]), ROWS)
            if found is None:
                assert lack.attribute not in query.known.elements
                continue
            tried[f"{lack.needed} {len(lack.references)}"] += 1
            missing = dict.fromkeys(query.owner, 0)  # what nothing is said about may be anything
            tuples = [
                {**missing, **{e: found.value(e, k) for e in query.owner if e in found.start}}
                for k in range(1, ROWS + 1)
            ]
            assert all(satisfied(query, each) for each in tuples), (seed, i)
            rows = [{name: each[name] for name in query.streams[i]} for each in tuples]
            for k, each in enumerate(tuples):
                others = [[{name: each[name] for name in names}] for names in query.streams]
                with_it, without = list(others), list(others)
                with_it[i], without[i] = rows, [row for number, row in enumerate(rows) if number != k]
                assert answer(query, with_it) != answer(query, without), (seed, i, lack, rows)
    assert min(tried.values()) > 20, tried
    assert len(tried) == 4, tried
