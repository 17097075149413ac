"""`reach` against the definition of purgeability, by brute force over a tiny domain (THEORY section 12)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given, settings

from caesura.safety.components import reaches
from caesura.safety.reach import Reach
from tests.property.joins import Instance, graph_of, instances

# Every value of OLD has been punctuated, in every combination; those of FRESH never have, far below and far above.
# Ordered columns have passed all that is bounded by old values.
OLD, FRESH = (0, 1), (-100, 100)
Row = dict[str, int]


def purgeable(instance: Instance, start: int) -> bool:
    """No row of `start` is in a future result: stored or legal future rows of the others, at least one future."""
    others = [i for i in range(len(instance.columns)) if i != start]

    def future_result(joined: Row, rest: list[int], future: bool) -> bool:
        if not rest:
            return future
        first, *later = rest
        return any(
            agree(instance, joined | row) and future_result(joined | row, later, future or is_future)
            for is_future, row in candidates(instance, first)
        )

    return not any(future_result(row, others, False) for row in rows(instance, start, OLD))


def candidates(instance: Instance, i: int) -> Iterator[tuple[bool, Row]]:
    for row in rows(instance, i, OLD):
        yield False, row
    if i not in instance.tables:
        for row in rows(instance, i, (*OLD, *FRESH)):
            escapes = all(any(row[a] in FRESH for a in scheme) for scheme in instance.schemes[i])
            if escapes and all(row[a] == max(FRESH) for a in instance.ordered.intersection(row)):
                yield True, row


def rows(instance: Instance, i: int, values: tuple[int, ...]) -> Iterator[Row]:
    columns = instance.columns[i]
    for chosen in product(*((0,) if column in instance.fixed else values for column in columns)):
        yield dict(zip(columns, chosen, strict=True))


def agree(instance: Instance, row: Row) -> bool:
    return all(row[a] == row[b] for a, b in instance.equalities if a in row and b in row) and all(
        row[x] <= row[y] + c for x, y, c in instance.bounds if x in row and y in row
    )


def decides_purgeability(instance: Instance) -> None:
    """The transformed graph, the closure and the evidence all say what the definition says.

    Bounds in a circle leave a value attribute few values, or one: we do not look for that, so with both of them
    our answer may be no where the definition's is yes.
    """
    graph = graph_of(instance)
    exact = not instance.bounds or not any(instance.schemes)
    for start, found in enumerate(reaches(graph)):
        assert (found is None) == (start in instance.tables)
        if found is not None:
            wanted = purgeable(instance, start)
            assert found.complete == wanted or (wanted and not exact), start
            wanted = found.complete
            assert (graph.closure((start,)).reached == set(graph.streams)) == wanted, start
            assert (len(found.hops) == len(graph.streams) - 1) == wanted, start
            assert bool(found.unreached) != wanted, start
            assert_hops_can_be_followed(instance, found)


def assert_hops_can_be_followed(instance: Instance, found: Reach) -> None:
    """Each hop is to a new stream, on one of its schemes, pinned by what was joined before or by a constant."""
    known = {c for i in (found.start, *instance.tables) for c in instance.columns[i]}
    for hop in found.hops:
        assert known.isdisjoint(instance.columns[hop.input])
        assert hop.scheme.attributes in instance.schemes[hop.input] or hop.scheme.ordered
        assert tuple(pin.attribute for pin in hop.pins) == hop.scheme.attributes
        assert all(pin.by in known for pin in hop.pins if isinstance(pin.by, str))
        known.update(instance.columns[hop.input])


@given(instances(inputs=2, columns=3))
@settings(max_examples=1000, deadline=None)
def test_three_procedures_decide_purgeability_of_two_inputs(instance: Instance) -> None:
    decides_purgeability(instance)


@given(instances(inputs=3, columns=2))
@settings(max_examples=1500, deadline=None)
def test_three_procedures_decide_purgeability_of_three_inputs(instance: Instance) -> None:
    decides_purgeability(instance)


@given(instances(inputs=4, columns=2))
@settings(max_examples=1000, deadline=None)
def test_three_procedures_decide_purgeability_of_four_inputs(instance: Instance) -> None:
    decides_purgeability(instance)


@given(instances(inputs=3, columns=2, bounded=True))
@settings(max_examples=1000, deadline=None)
def test_three_procedures_decide_purgeability_with_ordered_streams_and_bounds(instance: Instance) -> None:
    decides_purgeability(instance)
