"""A witness keeps its word: it is grammatical, and each of its rows still has a legal future."""

from __future__ import annotations

from hypothesis import assume, given, settings

from caesura.catalog import Stream
from caesura.safety.names import scans
from caesura.safety.reach import Reach
from caesura.safety.sample import samples
from caesura.safety.witness import witness
from tests.property.joins import Instance, instances, planned


@given(instances(inputs=3, columns=2))
@settings(max_examples=400, deadline=None)
def test_every_row_of_a_witness_is_in_a_result_that_may_still_come(instance: Instance) -> None:
    plan = planned(instance)
    found = witness(plan, 3)
    assume(found is not None)
    assert found is not None
    assert isinstance(found.proof, Reach)
    heard = {item.stream.name for item in found.items}
    said = [item.punctuation for item in found.items]
    assert said == sorted(said), "no row comes after a punctuation"
    future = samples(plan, [scan.relation for scan in scans(plan) if isinstance(scan.relation, Stream)])
    growing = f"s{found.proof.start}"
    assert growing in heard
    assert any(f"s{i}" not in heard for i in range(3) if i not in instance.tables), "someone is silent"
    kth = [{name: {c: each.value(k) for c, each in of.items()} for name, of in future.items()} for k in (1, 2, 3)]
    for rows in kth:
        row = {f"{name}.{column}": value for name, cells in rows.items() for column, value in cells.items()}
        assert all(row[left] == row[right] for left, right in instance.equalities if {left, right} <= row.keys())
        assert all(row[column] == 0 for column in instance.fixed & row.keys())
    for name in heard:
        sent = [item.cells for item in found.items if item.stream.name == name and not item.punctuation]
        assert sent == [rows[name] for rows in kth]
