"""A witness keeps its word: run on the model of the join, its rows stay, and each still has a legal future."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import assume, given, settings

from caesura.catalog import Stream
from caesura.model.join import Join, hops
from caesura.model.operator import Output, Row, Slice, run
from caesura.plan import Equality
from caesura.punctuation import Constant, Punctuation
from caesura.safety.names import scans
from caesura.safety.reach import Reach
from caesura.safety.sample import Cell, samples
from caesura.safety.witness import Item, witness
from tests.property.joins import Instance, instances, planned

ROWS = 3


def outputs(instance: Instance, phases: Sequence[Sequence[Slice]]) -> list[Output]:
    pairs = tuple(Equality(left, right) for left, right in instance.equalities)
    orders = [[[k for k in range(len(instance.columns)) if k != i]] for i in range(len(instance.columns))]
    return list(run(Join(instance.columns, pairs, hops(instance.columns, pairs, orders)), phases))


def sent(items: Iterable[Item], i: int, *, punctuations: bool) -> Slice:
    mine = [item for item in items if item.stream.name == f"s{i}" and item.punctuation is punctuations]
    if punctuations:
        said = (
            Punctuation.of({f"s{i}.{c}": Constant(v) for c, v in item.cells.items() if v is not None})
            for item in mine
        )
        return Slice((), frozenset(said))
    return Slice(tuple(row(i, item.cells.items()) for item in mine))


def row(i: int, cells: Iterable[tuple[str, Cell]]) -> Row:
    return Row.of({f"s{i}.{column}": value for column, value in cells})


@given(instances(inputs=3, columns=2))
@settings(max_examples=400, deadline=None)
def test_the_rows_of_a_witness_stay_and_each_is_in_a_result_that_may_still_come(instance: Instance) -> None:
    assume(not instance.tables)
    plan = planned(instance)
    found = witness(plan, ROWS)
    assume(found is not None)
    assert found is not None
    assert found.doubts == ()
    assert isinstance(found.proof, Reach)
    heard = {item.stream.name for item in found.items}
    rows = [sent(found.items, i, punctuations=False) for i in range(3)]
    closed = [sent(found.items, i, punctuations=True) for i in range(3)]
    *_, last = outputs(instance, [rows, closed])
    assert len(last.kept[found.proof.start]) == ROWS

    drawn = samples(plan, [scan.relation for scan in scans(plan) if isinstance(scan.relation, Stream)]).columns
    for k in range(1, ROWS + 1):
        future = [
            Slice() if f"s{i}" in heard else Slice((row(i, ((c, s.value(k)) for c, s in drawn[f"s{i}"].items())),))
            for i in range(3)
        ]
        *_, last = outputs(instance, [rows, closed, future])
        mine = row(found.proof.start, ((c, s.value(k)) for c, s in drawn[f"s{found.proof.start}"].items()))
        assert any(all(result[c] == mine[c] for c in mine) for result in last.rows)
