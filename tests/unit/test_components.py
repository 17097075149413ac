from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from caesura.catalog import PunctuatedBy, Unique
from caesura.plan import Join
from caesura.safety.components import transformed
from caesura.safety.schemes import derive
from caesura.safety.verdict import check
from tests.plans import join, query, scan, stream, where


def rounds(plan: Join) -> list[list[list[int]]]:
    found = transformed(derive(plan).graphs[plan]).rounds
    return [sorted(sorted(each) for each in nodes) for nodes in found]


def test_the_cycle_merges_at_once() -> None:
    s1, s2, s3 = (stream(n, "a b c", PunctuatedBy((by,))) for n, by in (("s1", "b"), ("s2", "c"), ("s3", "a")))
    cycle = join(scan(s1), scan(s2), scan(s3), on="s1.b = s2.b, s2.c = s3.c, s3.a = s1.a")
    assert rounds(cycle) == [[[0], [1], [2]], [[0, 1, 2]]]


def test_a_scheme_of_two_attributes_is_an_edge_of_the_merged_node() -> None:
    """Li et al., figure 10."""
    s1 = stream("s1", "a b", PunctuatedBy(("b",)))
    s2 = stream("s2", "b c", PunctuatedBy(("b",)), PunctuatedBy(("c",)))
    s3 = stream("s3", "a c", PunctuatedBy(("a", "c")))
    figure = join(scan(s1), scan(s2), scan(s3), on="s1.b = s2.b, s2.c = s3.c, s1.a = s3.a")
    assert rounds(figure) == [[[0], [1], [2]], [[0, 1], [2]], [[0, 1, 2]]]


def test_a_scheme_of_two_attributes_that_join_with_one_input_is_an_ordinary_edge() -> None:
    """Definition 11 would miss it."""
    both, one = stream("r", "a b", PunctuatedBy(("a", "b"))), stream("s", "a b", PunctuatedBy(("a",)))
    assert rounds(join(scan(both), scan(one), on="r.a = s.a, r.b = s.b")) == [[[0], [1]], [[0, 1]]]


def test_what_a_constant_pins_is_reached_by_all() -> None:
    fixed = where(scan(stream("k", "kind", PunctuatedBy(("kind",)))), "k.kind = 7")
    assert rounds(join(fixed, scan(stream("s", "a")))) == [[[0], [1]]]
    both = join(fixed, where(scan(stream("j", "kind", PunctuatedBy(("kind",)))), "j.kind = 8"))
    assert rounds(both) == [[[0], [1]], [[0, 1]]]


def chain(count: int) -> Join:
    links = [scan(stream(f"s{i}", "a b", Unique(("a",)), Unique(("b",)))) for i in range(count)]
    return join(*links, on=", ".join(f"s{i}.b = s{i + 1}.a" for i in range(count - 1)))


def cycle(count: int) -> Join:
    links = [scan(stream(f"s{i}", "a b", PunctuatedBy(("b",)))) for i in range(count)]
    return join(*links, on=", ".join(f"s{i}.b = s{(i + 1) % count}.a" for i in range(count)))


@pytest.mark.parametrize("shape", [chain, cycle])
def test_a_thousand_inputs_are_decided_in_two_seconds(shape: Callable[[int], Join]) -> None:
    plan = query(shape(1000))
    begin = time.process_time()
    assert check(plan).safe
    assert time.process_time() - begin < 2
