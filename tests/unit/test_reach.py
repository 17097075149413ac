from __future__ import annotations

import time

from caesura.catalog import OrderedBy, PunctuatedBy, Unique
from caesura.plan import Join
from caesura.punctuation import Scheme
from caesura.safety.reach import Candidate, Hop, Pin, Reach, Unreached
from caesura.safety.schemes import derive
from tests.plans import AUCTION, BID, CATEGORY, join, scan, stream, where


def reach_of(plan: Join, start: int) -> Reach:
    reach = derive(plan).reaches[plan][start]
    assert reach is not None
    return reach


def order(plan: Join, start: int) -> list[int]:
    return [hop.input for hop in reach_of(plan, start).hops]


def test_a_partner_that_punctuates_the_join_column_is_reached() -> None:
    joined = join(scan(AUCTION, "a"), scan(BID, "b"), on="a.id = b.auction")
    assert reach_of(joined, 0).hops == (Hop(1, Scheme(("b.auction",)), (Pin("b.auction", "a.id"),)),)
    assert reach_of(joined, 1).hops == (Hop(0, Scheme(("a.id",)), (Pin("a.id", "b.auction"),)),)


def test_a_partner_that_punctuates_another_column_is_not_and_the_evidence_says_so() -> None:
    by_seller = stream("auction", "id seller", PunctuatedBy(("seller",)))
    reach = reach_of(join(scan(by_seller, "a"), scan(BID, "b"), on="a.id = b.auction"), 1)
    assert not reach.complete
    assert reach.unreached == (Unreached(0, (Candidate(Scheme(("a.seller",)), ("a.seller",)),), pinned=("a.id",)),)


def test_two_attributes_pinned_by_the_same_input_are_one_hop() -> None:
    both = stream("r", "a b", PunctuatedBy(("a", "b")))
    one = stream("s", "a b", PunctuatedBy(("a",)))
    assert order(join(scan(both), scan(one), on="r.a = s.a, r.b = s.b"), 1) == [0]
    (missing,) = reach_of(join(scan(both), scan(one), on="r.a = s.a"), 1).unreached
    assert missing.candidates == (Candidate(Scheme(("r.a", "r.b")), ("r.b",)),)


def test_an_implied_equality_pins() -> None:
    """The example of THEORY section 4: S1 is purgeable only thanks to the implied S1.A = S3.A."""
    s1, s2 = stream("s1", "A"), stream("s2", "A B", PunctuatedBy(("B",)))
    s3, s4 = stream("s3", "A C", PunctuatedBy(("A",))), stream("s4", "B C", PunctuatedBy(("C",)))
    on = "s1.A = s2.A, s2.A = s3.A, s3.C = s4.C, s4.B = s2.B"
    joined = join(scan(s1), scan(s2), scan(s3), scan(s4), on=on)
    assert order(joined, 0) == [2, 3, 1]
    assert reach_of(joined, 0).complete


def test_the_three_way_cycle_is_purgeable_though_no_pair_is() -> None:
    s1, s2, s3 = (
        stream(name, "A B C", PunctuatedBy((by,))) for name, by in (("s1", "B"), ("s2", "C"), ("s3", "A"))
    )
    cycle = join(scan(s1), scan(s2), scan(s3), on="s1.B = s2.B, s2.C = s3.C, s3.A = s1.A")
    assert [order(cycle, start) for start in range(3)] == [[2, 1], [0, 2], [1, 0]]
    assert not reach_of(join(scan(s1), scan(s2), on="s1.B = s2.B"), 0).complete


def test_in_a_circle_there_are_several_orders_that_of_the_proof_first() -> None:
    s1, s2, s3 = (stream(name, "x y", PunctuatedBy(("x",)), PunctuatedBy(("y",))) for name in ("s1", "s2", "s3"))
    cycle = join(scan(s1), scan(s2), scan(s3), on="s1.y = s2.x, s2.y = s3.x, s3.y = s1.x")
    assert [*reach_of(cycle, 0).orders()] == [(1, 2), (2, 1)]
    chain = join(scan(s1), scan(s2), scan(s3), on="s1.y = s2.x, s2.y = s3.x")
    assert [[*reach_of(chain, start).orders()] for start in (0, 1)] == [[(1, 2)], [(0, 2), (2, 0)]]


def test_a_constant_pins_and_the_column_of_a_row_is_preferred_to_it() -> None:
    kinds = stream("k", "a kind", PunctuatedBy(("a", "kind")))
    other = stream("s", "a")
    fixed = where(scan(kinds), "k.kind = 7")
    (hop,) = reach_of(join(fixed, scan(other), on="k.a = s.a"), 1).hops
    (a, kind) = hop.pins
    assert a == Pin("k.a", "s.a")
    assert not isinstance(kind.by, str)
    assert kind.by.sql == "7"
    assert not reach_of(join(scan(kinds), scan(other), on="k.a = s.a"), 1).complete


def test_null_is_not_a_constant_that_pins() -> None:
    kinds = where(scan(stream("k", "a kind", PunctuatedBy(("a", "kind")))), "k.kind = NULL")
    assert not reach_of(join(kinds, scan(stream("s", "a")), on="k.a = s.a"), 1).complete


def test_static_inputs_are_reached_from_the_start_and_pin() -> None:
    seller = stream("seller", "id category", PunctuatedBy(("category",)))
    joined = join(
        scan(AUCTION, "a"), scan(CATEGORY, "c"), scan(seller, "s"), on="a.category = c.id, c.name = s.category"
    )
    reach = reach_of(joined, 0)
    assert reach.static == (1,)
    assert reach.hops == (Hop(2, Scheme(("s.category",)), (Pin("s.category", "c.name"),)),)


def test_a_stream_that_only_meets_tables_needs_no_hop() -> None:
    reach = reach_of(join(scan(AUCTION, "a"), scan(CATEGORY, "c"), on="a.category = c.id"), 0)
    assert (reach.complete, reach.hops, reach.static) == (True, (), (1,))


def test_a_stream_that_occurs_twice_is_two_inputs() -> None:
    twice = join(scan(AUCTION, "x"), scan(AUCTION, "y"), on="x.id = y.id")
    assert [order(twice, 0), order(twice, 1)] == [[1], [0]]
    other = join(scan(AUCTION, "x"), scan(AUCTION, "y"), on="x.seller = y.seller")
    assert not reach_of(other, 0).complete


def test_a_pin_names_a_column_that_is_joined_on() -> None:
    """Others may be NULL in rows that join nothing, and need not be at hand when the purge looks at keys alone."""
    other = where(scan(stream("s", "a b")), "s.a = s.b")
    (hop,) = reach_of(join(scan(stream("r", "a", Unique(("a",)))), other, on="r.a = s.b"), 1).hops
    assert hop.pins == (Pin("r.a", "s.b"),)


def test_the_smallest_scheme_is_taken() -> None:
    many = stream("r", "a b", PunctuatedBy(("a", "b")), PunctuatedBy(("b",)))
    (hop,) = reach_of(join(scan(many), scan(stream("s", "a b")), on="r.a = s.a, r.b = s.b"), 1).hops
    assert hop.scheme == Scheme(("r.b",))


def test_a_hop_that_looks_at_the_row_alone_goes_before_one_that_needs_partners() -> None:
    s, x = stream("s", "a b"), stream("x", "a c", PunctuatedBy(("a",)))
    y = stream("y", "b c", PunctuatedBy(("c",)), PunctuatedBy(("b",)))
    hops = reach_of(join(scan(s), scan(x), scan(y), on="s.a = x.a, s.b = y.b, x.c = y.c"), 0).hops
    assert hops[1] == Hop(2, Scheme(("y.b",)), (Pin("y.b", "s.b"),))


def test_an_ordered_scheme_is_used_only_where_value_schemes_do_not_do() -> None:
    other = stream("s", "a t")
    both = stream("r", "a t", OrderedBy("t"), PunctuatedBy(("a",)))
    (hop,) = reach_of(join(scan(both), scan(other), on="r.a = s.a, r.t = s.t"), 1).hops
    assert not hop.scheme.ordered
    (hop,) = reach_of(join(scan(both), scan(other), on="r.t = s.t"), 1).hops
    assert hop.scheme.ordered


def test_a_condition_that_is_no_equality_pins_nothing() -> None:
    assert not reach_of(join(scan(AUCTION, "a"), scan(BID, "b"), residual="a.id < b.auction"), 0).complete


def test_a_chain_of_a_hundred_inputs_is_decided_quickly() -> None:
    links = [scan(stream(f"s{i}", "a b", Unique(("a",)), Unique(("b",)))) for i in range(100)]
    chain = join(*links, on=", ".join(f"s{i}.b = s{i + 1}.a" for i in range(99)))
    begin = time.process_time()
    assert all(reach is not None and reach.complete for reach in derive(chain).reaches[chain])
    assert time.process_time() - begin < 2
