"""Every operator of the model is faithful and proper, by the definitions, in thousands of generated traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from caesura.catalog import Column
from caesura.model.group import Group
from caesura.model.join import Join
from caesura.model.operator import Row, Slice, run
from caesura.model.select import Select
from caesura.plan import Aggregate
from caesura.punctuation import EVERYTHING, Constant, Pattern, Punctuation, Range, set_nomatch_rows
from caesura.types import BIGINT
from tests.property.faithful import Case, Event, events, moments, violations
from tests.property.operators import BIT, CASES, CYCLE, JOIN, NULL, OPERATORS
from tests.property.traces import generated, shrunk

PER_OPERATOR, PER_VARIANT = 3000, 600
AT_LEAST: dict[Event, float] = {"emits": 0.1, "passes": 0.2, "purges": 0.03, "ends": 0.5}
"""The part of the traces in which something of interest happens, so that the properties do not hold of nothing."""


def row(**values: object) -> Row:
    return Row.of(values)


def says(**patterns: Pattern) -> Punctuation:
    return Punctuation.of(patterns)


def arrives(*rows: Row, says: Sequence[Punctuation] = ()) -> Slice:
    return Slice(rows, frozenset(says))


def to_be_seen(name: str) -> set[Event]:
    match name:
        case "select" | "merge":
            return {"emits", "passes", "ends"}  # no state
        case _ if name.startswith("project"):
            return {"emits", "passes", "ends"}
        case "group without keys":
            return {"ends"}
        case "frame without partitions":
            return {"emits", "passes", "ends"}  # a frame without a beginning reaches all
        case _:
            return {"emits", "purges", "passes", "ends"}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_is_faithful_and_proper(name: str) -> None:
    case, number = CASES[name], PER_OPERATOR if name in OPERATORS else PER_VARIANT
    seen: Counter[Event] = Counter()
    for n in range(number):
        course = list(moments(case, generated(case.domains, n)))
        assert not violations(case, course), report(case, n)
        seen.update(events(course))
    assert {event for event, times in seen.items() if times >= AT_LEAST[event] * number} >= to_be_seen(name)


def report(case: Case, n: int) -> str:
    """Which trace fails, and how little of it is needed."""
    least = shrunk(generated(case.domains, n), lambda trace: bool(violations(case, list(moments(case, trace)))))
    lines = [f"trace {n}: {', '.join(sorted(violations(case, list(moments(case, least)))))}"]
    for slice, moment in zip(least, moments(case, least), strict=True):
        lines += [f"  {arrival.rows} {arrival.closings}" for arrival in slice]
        lines += [f"  -> {moment.output}, certain: {case.certain(moment.so_far, moment.closings)}"]
    return "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_one_row_decides_what_is_certain(name: str) -> None:
    """And no row at all where g is monotone: two rows more, of the same input or of two, change nothing."""
    case = CASES[name]
    thorough = replace(case, decisive=2)
    for n in range(100):
        for moment in moments(case, generated(case.domains, n)):
            certain = case.certain(moment.so_far, moment.closings)
            assert case.contains(thorough.certain(moment.so_far, moment.closings), certain)


@pytest.mark.parametrize("name", ["join on two attributes", "join of two attributes with one", "cross join"])
def test_a_binary_join_keeps_exactly_the_rows_that_may_still_find_a_partner(name: str) -> None:
    case = CASES[name]
    for n in range(300):
        *_, last = moments(case, generated(case.domains, n))
        for mine, theirs in ((0, 1), (1, 0)):
            said = [each.punctuation for each in last.closings[theirs]]
            coming = [tuple(each.values()) for each in set_nomatch_rows(partners(case, theirs), said)]
            awaited = (
                each
                for each in last.so_far[mine]
                if any(case.g(*(((each,), (u,)) if mine == 0 else ((u,), (each,)))) for u in coming)
            )
            assert Counter(last.output.kept[mine]) == Counter(map(case.domains[mine].row, awaited))


@cache
def partners(case: Case, i: int) -> list[dict[str, object]]:
    """All that a row of an input may be to the join. NULL in the other attributes, where it may be anything, is
    ruled out by punctuations confined to the join attributes only."""
    assert isinstance(case.operator, Join)
    choices = (BIT if name in case.operator.first_of_class else (NULL,) for name in case.domains[i].names)
    return [dict(zip(case.domains[i].names, values, strict=True)) for values in product(*choices)]


def test_a_selection_rules_out_the_complement_of_its_predicate_from_the_start() -> None:
    never = says(v=Range(high=5))
    select = Select(lambda row: row["v"] == 6, excluded=frozenset({never}))
    first, second = run(select, ((arrives(),), (arrives(row(v=5)),)))
    assert first.punctuations == {never}
    assert second.rows == ()
    assert second.punctuations == frozenset()


def test_a_projection_passes_a_punctuation_on_under_every_new_name() -> None:
    project = OPERATORS["project"].operator
    (output,) = run(project, ((arrives(says=[says(k=Constant(1)), says(v=Constant(1))]),),))
    assert output.punctuations == {says(x=Constant(1)), says(y=Constant(1))}


def test_the_cycle_purges_a_row_only_along_the_whole_chain() -> None:
    """S1(A, B), S2(B, C), S3(C, A): a row of S1 goes when S3 has closed its A, and S2 the C of all it met."""
    first = (arrives(row(a1=1, b1=5)), arrives(), arrives(row(c3=7, a3=1)))
    closes_a = (arrives(), arrives(), arrives(says=[says(a3=Constant(1))]))
    closes_c = (arrives(), arrives(says=[says(c2=Constant(7))]), arrives())
    outputs = list(run(CYCLE.operator, (first, closes_a, closes_c)))
    assert [len(output.kept[0]) for output in outputs] == [1, 1, 0]
    assert outputs[0].kept[2] == (row(c3=7, a3=1),)


def test_a_passed_punctuation_is_also_written_with_the_first_of_equal_attributes() -> None:
    p = says(l=Constant(1), w=Constant(0))
    (output,) = run(JOIN.operator, ((arrives(), arrives(says=[p])),))
    assert output.punctuations == {p, says(k=Constant(1), w=Constant(0))}


def test_a_join_waits_with_a_punctuation_until_its_rows_are_gone() -> None:
    waiting = (arrives(row(k=1, v=0), says=[says(k=Constant(1))]), arrives())
    released = (arrives(), arrives(says=[says(l=Constant(1))]))
    before, after = run(JOIN.operator, (waiting, released))
    assert before.punctuations == frozenset()
    assert after.punctuations == {says(k=Constant(1)), says(l=Constant(1))}
    assert after.kept == ((), ())


def test_a_row_without_a_key_is_not_state_of_a_join() -> None:
    (output,) = run(JOIN.operator, ((arrives(row(k=NULL, v=1)), arrives()),))
    assert output.kept == ((), ())


def test_a_group_of_null_is_closed_by_a_wildcard_only() -> None:
    both = arrives(row(k=NULL, v=1), row(k=1, v=1), says=[says(k=Range(low=0)), says(k=Range(high=0))])
    output, end = run(OPERATORS["group"].operator, ((both,), (arrives(says=[EVERYTHING]),)))
    assert [r["k"] for r in output.rows] == [1]
    assert [r["k"] for r in end.rows] == [NULL]


def test_an_aggregate_over_nothing_is_one_row() -> None:
    (output,) = run(OPERATORS["group without keys"].operator, ((arrives(says=[EVERYTHING]),),))
    nothing = dict.fromkeys(("sum", "avg", "min", "max", "middle"))
    assert output.rows == (row(rows=0, count=0, values=0, **nothing),)
    assert output.kept == ((),)


def test_the_invariant_of_group_by_is_weaker_than_completeness_when_only_nulls_may_come() -> None:
    """SUM(v) of k = 1 can no longer change, but no single punctuation says so: the invariant waits."""
    total = Aggregate(Column("sum", BIGINT), "SUM", ("v",))
    closed = [says(k=Constant(1), v=Range(high=0)), says(k=Constant(1), v=Range(low=0))]
    (output,) = run(Group(("k",), (total,)), ((arrives(row(k=1, v=1), says=closed),),))
    assert output.rows == ()
