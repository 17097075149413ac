"""What the check believes of the rows that outer, semi and anti joins emit, against those rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.catalog import PunctuatedBy
from caesura.plan import Equality, Join, JoinKind
from caesura.safety.equality import equality_classes
from caesura.safety.schemes import derive
from tests.plans import scan, stream, where

Row = dict[str, int | None]
LEFT, RIGHT = ("l.a", "l.b"), ("r.c", "r.d")
CONDITIONS = [
    [("l.a", "r.c")],
    [("l.a", "r.c"), ("l.b", "r.d")],
    [("l.a", "r.d")],
    [("l.a", "r.c"), ("l.b", "r.c")],
    [("l.a", "r.c"), ("l.a", "r.d")],
]
KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti")


@dataclass(frozen=True)
class Emitted:
    """An output row, and the rows of each side that it was made of; None where there was none."""

    row: Row
    sides: tuple[Row | None, Row | None]


def emitted(kind: JoinKind, left: list[Row], right: list[Row], on: list[tuple[str, str]]) -> Iterator[Emitted]:
    def meet(one: Row, other: Row) -> bool:
        return all(one[a] is not None and one[a] == other[b] for a, b in on)

    for one in left:
        partners = [other for other in right if meet(one, other)]
        if kind in ("inner", "left", "right", "full"):
            yield from (Emitted(one | other, (one, other)) for other in partners)
        if kind == "semi" and partners:
            yield from (Emitted(one, (one, other)) for other in partners)
        if kind == "anti" and not partners:
            yield Emitted(one, (one, None))
        if kind in ("left", "full") and not partners:
            yield Emitted(one | dict.fromkeys(RIGHT), (one, None))
    if kind in ("right", "full"):
        for other in right:
            if not any(meet(one, other) for one in left):
                yield Emitted(dict.fromkeys(LEFT) | other, (None, other))


def rows(columns: tuple[str, ...], fixed: Mapping[str, int]) -> st.SearchStrategy[list[Row]]:
    values = {name: st.just(fixed[name]) if name in fixed else st.sampled_from([0, 1, None]) for name in columns}
    return st.lists(st.fixed_dictionaries(values), max_size=4)


@given(st.data(), st.sampled_from(KINDS), st.booleans())
@settings(max_examples=1500, deadline=None)
def test_equalities_and_schemes_hold_in_every_row(data: st.DataObject, kind: JoinKind, constant: bool) -> None:
    fixed = {"r.d": 1} if constant else {}
    on = data.draw(st.sampled_from(CONDITIONS))
    one = stream("l", "a b", PunctuatedBy(("a",)), PunctuatedBy(("a", "b")))
    two = stream("r", "c d", PunctuatedBy(("c",)), PunctuatedBy(("d",)))
    right = where(scan(two), "r.d = 1") if constant else scan(two)
    join = Join((scan(one), right), tuple(Equality(a, b) for a, b in on), None, kind)
    output = list(emitted(kind, data.draw(rows(LEFT, {})), data.draw(rows(RIGHT, fixed)), on))
    for found in equality_classes(join):
        for each in output:
            values = [each.row[column] for column in found.columns]
            assert values.count(values[0]) == len(values), (found, each)
            assert found.constant is None or values[0] == 1, (found, each)
    for derived in derive(join).schemes[join]:
        (promised,) = derived.promised
        owner = 0 if promised.scan.relation == one else 1
        for each in output:
            closed = [each.row[column] for column in derived.scheme.attributes]
            side = each.sides[owner]
            if None not in closed:
                assert side is not None, (derived.scheme, each)
                assert isinstance(promised.promise, PunctuatedBy)
                columns = (f"{promised.scan.alias}.{name}" for name in promised.promise.columns)
                assert closed == [side[column] for column in columns], (derived.scheme, each)
