from __future__ import annotations

from caesura.catalog import ClosedBy, ClusteredBy, CompleteBy, OrderedBy, PunctuatedBy, Unique
from caesura.plan import Plan
from caesura.safety.schemes import derive
from tests.plans import AUCTION, BID, CATEGORY, expr, group, join, project, scan, stream, where


def schemes(plan: Plan) -> set[str]:
    return {str(derived.scheme) for derived in derive(plan).schemes[plan]}


def test_every_promise_of_a_stream_is_a_scheme_of_its_scan() -> None:
    everything = stream(
        "s",
        "a b c d e f",
        PunctuatedBy(("a", "b")),
        Unique(("c",)),
        ClusteredBy(("d",)),
        ClosedBy(("e",), expr("a = 1")),
        CompleteBy(("b",), ("a",), "parts"),
        OrderedBy("a"),
    )
    assert schemes(scan(everything, "x")) == {"(x.a, x.b)", "(x.c)", "(x.d)", "(x.e)", "(x.b)", "(x.a, ordered)"}


def test_what_nobody_closes_is_never_complete() -> None:
    assert schemes(scan(stream("s", "h part", CompleteBy(("h",), ("part",), "parts")))) == set()


def test_a_table_has_no_schemes() -> None:
    assert schemes(scan(CATEGORY)) == set()


def test_a_filter_keeps_schemes() -> None:
    assert schemes(where(scan(BID), "bid.price > 10")) == {"(bid.auction)"}


def test_a_projection_keeps_schemes_whose_attributes_survive() -> None:
    wide = scan(stream("s", "a b", PunctuatedBy(("a",)), PunctuatedBy(("a", "b"))))
    assert schemes(project(wide, x="s.a")) == {"(x)"}
    assert schemes(project(wide, y="s.b")) == set()


def test_a_column_that_survives_twice_gives_both_forms() -> None:
    assert schemes(project(scan(BID), x="bid.auction", y="bid.auction")) == {"(x)", "(y)"}


def test_a_group_keeps_schemes_within_its_keys() -> None:
    assert schemes(group(scan(BID), "bid.auction", "bid.bidder")) == {"(bid.auction)"}
    assert schemes(group(scan(BID), "bid.bidder")) == set()


def test_a_join_keeps_the_schemes_of_purgeable_inputs_under_every_equal_name() -> None:
    joined = join(scan(AUCTION, "a"), scan(BID, "b"), on="a.id = b.auction")
    assert schemes(joined) == {"(a.id)", "(b.auction)"}


def test_a_join_drops_the_schemes_of_an_input_it_cannot_purge() -> None:
    by_seller = stream("auction", "id seller", PunctuatedBy(("seller",)))
    joined = join(scan(by_seller, "a"), scan(BID, "b"), on="a.id = b.auction")
    # bids close auctions, so auctions leave and pass (seller) on; bids stay and pass nothing on
    assert schemes(joined) == {"(a.seller)"}


def test_a_stream_joined_with_a_table_keeps_its_schemes() -> None:
    joined = join(scan(AUCTION, "a"), scan(CATEGORY, "c"), on="a.category = c.id")
    assert schemes(joined) == {"(a.id)"}


def test_the_two_attributes_of_a_scheme_are_rewritten_independently() -> None:
    left = stream("l", "a b", PunctuatedBy(("a", "b")))
    right = stream("r", "a b", PunctuatedBy(("a",)))
    joined = join(scan(left), scan(right), on="l.a = r.a, l.b = r.b")
    assert {"(l.a, l.b)", "(l.a, r.b)", "(r.a, l.b)", "(r.a, r.b)"} <= schemes(joined)


def test_a_derived_scheme_knows_its_promise() -> None:
    joined = join(scan(AUCTION, "a"), scan(BID, "b"), on="a.id = b.auction")
    top = project(joined, auction="b.auction")
    (derived,) = derive(top).schemes[top]
    assert str(derived.scheme) == "(auction)"
    assert [(each.scan.relation, each.promise) for each in derived.promised] == [(AUCTION, Unique(("id",)))]


def test_schemes_compose_through_a_tree_of_joins() -> None:
    person = stream("person", "id", Unique(("id",)))
    bids = stream("bid", "auction bidder", PunctuatedBy(("auction",)), PunctuatedBy(("bidder",)))
    inner = join(scan(AUCTION, "a"), scan(bids, "b"), on="a.id = b.auction")
    outer = join(inner, scan(person, "p"), on="b.bidder = p.id")
    assert {"(a.id)", "(b.auction)", "(b.bidder)", "(p.id)"} <= schemes(outer)
