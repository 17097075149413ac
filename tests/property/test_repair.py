"""Every repair that is offered makes the query safe, with nothing to spare, and no smaller one exists."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from caesura.catalog import PunctuatedBy
from caesura.plan import Plan
from caesura.safety.repair import Addition, amended, repairs
from caesura.safety.states import open_proofs
from tests.plans import distinct, group
from tests.property.joins import Instance, instances, planned


def safe(plan: Plan, additions: Iterable[Addition] = ()) -> bool:
    return next(open_proofs(amended(plan, additions)), None) is None


def everything(instance: Instance) -> list[Addition]:
    """All constraints of one attribute: a larger one never does more."""
    return [
        Addition(f"s{i}", PunctuatedBy((column.partition(".")[2],)))
        for i, columns in enumerate(instance.columns)
        if i not in instance.tables
        for column in columns
    ]


def repairs_are_smallest(plan: Plan, candidates: list[Addition]) -> None:
    assume(not safe(plan))
    found = repairs(plan)
    if not found:
        assert not safe(plan, candidates)
        return
    assert len(found) <= 3
    assert len({frozenset(repair) for repair in found}) == len(found)
    for repair in found:
        assert safe(plan, repair)
        assert not any(safe(plan, (a for a in repair if a != left)) for left in repair)
    smaller = len(found[0]) - 1
    assert {len(repair) for repair in found} == {smaller + 1}
    assert not any(safe(plan, chosen) for size in range(smaller + 1) for chosen in combinations(candidates, size))


@given(instances(inputs=3, columns=2))
@settings(max_examples=500, deadline=None)
def test_repairs_of_three_inputs(instance: Instance) -> None:
    repairs_are_smallest(planned(instance), everything(instance))


@given(instances(inputs=5, columns=2))
@settings(max_examples=300, deadline=None)
def test_repairs_of_five_inputs(instance: Instance) -> None:
    repairs_are_smallest(planned(instance), everything(instance))


@given(st.data(), instances(inputs=3, columns=2))
@settings(max_examples=300, deadline=None)
def test_repairs_of_a_group_or_distinct_over_a_join(data: st.DataObject, instance: Instance) -> None:
    joined = planned(instance)
    columns = st.sampled_from([column.name for column in joined.columns])
    keys = data.draw(st.lists(columns, min_size=1, max_size=2, unique=True))
    over: Plan = group(joined, *keys) if data.draw(st.booleans()) else distinct(joined, *keys)
    repairs_are_smallest(over, everything(instance))
