from __future__ import annotations

import pytest

from caesura.catalog import Check, OrderedBy, PunctuatedBy
from caesura.plan import Plan
from caesura.safety.closing import Closing
from caesura.safety.repair import amended
from caesura.safety.states import Finite, Stateless
from caesura.safety.verdict import Verdict, check
from tests.plans import AUCTION, BID, CATEGORY, expr, group, join, project, query, scan, stream, table, where

SILENT = stream("auction", "id seller category")
BY_SELLER = stream("auction", "id seller category", PunctuatedBy(("seller",)))


def checked(plan: Plan) -> Verdict:
    return check(query(plan))


def bounds(plan: Plan) -> dict[str, str | None]:
    """`join a` → by."""
    return {f"{state.operator} {state.input}".strip(): state.by for state in checked(plan).states}


def repair(plan: Plan) -> list[str]:
    found = checked(plan).repairs
    assert len(found) <= 1
    return [f"{each.stream}: {each.add}" for one in found for each in one]


def auctions_with_bids(auction: Plan, bid: Plan) -> Plan:
    return join(auction, bid, on="a.id = b.auction")


SAFE = auctions_with_bids(scan(AUCTION, "a"), scan(BID, "b"))
UNSAFE = auctions_with_bids(scan(BY_SELLER, "a"), scan(BID, "b"))


def test_a_query_without_stateful_operators_is_stateless() -> None:
    (state,) = checked(project(where(scan(BID), "bid.price > 1"), price="bid.price")).states
    assert (state.operator, state.input, state.by, state.proof) == ("query", "", "stateless", Stateless())


def test_a_join_of_streams_that_punctuate_each_others_key_is_safe() -> None:
    verdict = checked(SAFE)
    assert verdict.safe
    assert [state.because for state in verdict.states] == [
        "a row of `auction` leaves when `bid` closes its auction: PUNCTUATED BY (auction)",
        "a row of `bid` leaves when `auction` closes its id: UNIQUE (id)",
    ]
    assert verdict.repairs == ()


def test_it_says_once_what_it_takes_for_granted() -> None:
    assert checked(group(SAFE, "a.id", "a.seller")).notes == (
        "this assumes that the promised punctuations keep coming:"
        " `bid` PUNCTUATED BY (auction) and `auction` UNIQUE (id)",
    )
    assert checked(join(scan(AUCTION, "a"), scan(CATEGORY, "c"), on="a.category = c.id")).notes == ()


def test_one_unbounded_input_makes_a_query_unsafe() -> None:
    verdict = checked(UNSAFE)
    assert not verdict.safe
    assert bounds(UNSAFE) == {"join a": "punctuation", "join b": None}
    assert verdict.states[1].because == (
        "a row of `bid` waits for `auction` for ever: `auction` punctuates (seller), which this join does not pin;"
        " a synopsis of `bid` would have to know every auction: it is needed as it is, and nothing bounds it"
    )


def test_a_stream_joined_with_a_table_keeps_nothing() -> None:
    verdict = checked(join(scan(SILENT, "a"), scan(CATEGORY, "c"), on="a.category = c.id"))
    assert [(state.by, state.because) for state in verdict.states] == [
        ("static", "`category` is finite and read once"),
        ("static", "`category` is finite and read once"),
    ]


def test_tables_alone_are_bounded() -> None:
    tables = join(scan(CATEGORY, "c"), scan(table("part", "id"), "p"), on="c.id = p.id")
    assert bounds(group(tables, "c.name")) == {"join c": "static", "join p": "static", "group join": "static"}
    assert isinstance(checked(tables).states[0].proof, Finite)


def test_a_relation_read_twice_goes_by_its_alias() -> None:
    verdict = checked(join(scan(AUCTION, "x"), scan(AUCTION, "y"), on="x.id = y.id"))
    assert verdict.states[0].because == "a row of `x` leaves when `y` closes its id: UNIQUE (id)"


def test_operators_have_unique_names() -> None:
    tree = join(group(SAFE, "a.id"), group(scan(BID, "o"), "o.auction"), on="a.id = o.auction")
    operators = {state.operator for state in checked(tree).states}
    assert operators == {"join", "group", "group_2", "join_2"}
    assert "join_2 group" in bounds(tree)


def test_an_ordered_proof_is_a_window() -> None:
    timed = stream("tick", "t", OrderedBy("t"))
    assert bounds(join(scan(timed, "x"), scan(timed, "y"), on="x.t = y.t")) == {
        "join x": "window",
        "join y": "window",
    }
    assert bounds(group(scan(timed), "tick.t")) == {"group tick": "window"}


def test_a_group_is_bounded_by_a_scheme_within_its_keys() -> None:
    safe = group(scan(BID), "bid.auction", "bid.bidder")
    assert bounds(safe) == {"group bid": "punctuation"}
    assert checked(safe).states[0].because == (
        "a group of `bid` leaves when `bid` closes its auction: PUNCTUATED BY (auction)"
    )
    assert bounds(group(scan(BID), "bid.bidder")) == {"group bid": None}


def test_a_scheme_with_an_attribute_outside_the_keys_closes_no_group() -> None:
    pairs = stream("bid", "auction bidder", PunctuatedBy(("auction", "bidder")))
    assert bounds(group(scan(pairs), "bid.auction", "bid.bidder")) == {"group bid": "punctuation"}
    assert checked(group(scan(pairs), "bid.auction")).states[0].because == (
        "a group of `bid` never closes: `bid` punctuates (auction, bidder), but bidder is not grouped by"
    )


def test_a_group_may_use_the_equal_column_of_the_other_input() -> None:
    assert bounds(group(SAFE, "b.auction"))["group join"] == "punctuation"
    assert bounds(group(SAFE, "b.bidder"))["group join"] is None


def test_a_group_over_a_join_that_loses_the_punctuations_is_unbounded() -> None:
    plan = group(UNSAFE, "b.auction")
    assert (
        "`join` keeps `bid` for ever and so passes none of its punctuations on" in checked(plan).states[-1].because
    )


@pytest.mark.parametrize("plan", [group(scan(BID)), group(where(scan(BID), "bid.bidder = 7"), "bid.bidder")])
def test_a_single_group_is_bounded_but_blocked(plan: Plan) -> None:
    verdict = checked(plan)
    assert verdict.safe
    assert bounds(plan) == {"group bid": "static"}
    assert [(each.operator, each.because) for each in verdict.blocked] == [
        ("group", "nothing closes its one group before `bid` ends")
    ]


def test_a_group_that_closes_or_ends_is_not_blocked() -> None:
    assert checked(group(scan(BID), "bid.auction")).blocked == ()
    assert checked(group(scan(CATEGORY))).blocked == ()


def test_groups_that_no_punctuation_can_close_because_of_null_are_noted() -> None:
    note = "no punctuation closes what `group` keeps of rows whose auction is NULL"
    nullable = scan(stream("bid", "auction", PunctuatedBy(("auction",))))
    assert note in checked(group(nullable, "bid.auction")).notes
    assert note not in checked(group(where(nullable, "bid.auction IS NOT NULL"), "bid.auction")).notes
    present = Check(expr("auction IS NOT NULL"))
    declared = stream("bid", "auction", PunctuatedBy(("auction",)), present)
    assert note not in checked(group(scan(declared), "bid.auction")).notes


def test_a_check_that_compares_lets_null_through() -> None:
    compared = stream("bid", "auction", PunctuatedBy(("auction",)), Check(expr("auction > 0")))
    (state,) = checked(group(scan(compared), "bid.auction")).states
    assert isinstance(state.proof, Closing)
    assert state.proof.nullable == ("bid.auction",)


def test_a_join_on_the_key_keeps_null_away_from_the_groups() -> None:
    assert len(checked(group(SAFE, "a.id")).notes) == 1


def test_the_repair_is_the_constraint_that_is_missing() -> None:
    assert repair(UNSAFE) == ["auction: PUNCTUATED BY (id)"]
    assert repair(group(scan(BID), "bid.bidder")) == ["bid: PUNCTUATED BY (bidder)"]


def test_a_repair_makes_the_query_safe_and_needs_each_of_its_parts() -> None:
    silent_bid = stream("bid", "auction bidder")
    plan = group(auctions_with_bids(scan(SILENT, "a"), scan(silent_bid, "b")), "a.id", "a.seller")
    (found,) = checked(plan).repairs
    assert {(each.stream, each.add) for each in found} == {
        ("auction", "PUNCTUATED BY (id)"),
        ("bid", "PUNCTUATED BY (auction)"),
    }
    assert checked(amended(plan, found)).safe
    for left_out in found:
        assert not checked(amended(plan, [each for each in found if each != left_out])).safe


def test_a_repair_may_need_several_constraints_for_one_state() -> None:
    hub = stream("hub", "a b", PunctuatedBy(("a",)), PunctuatedBy(("b",)))
    plan = join(scan(hub), scan(stream("x", "a")), scan(stream("y", "b")), on="hub.a = x.a, hub.b = y.b")
    assert sorted(repair(plan)) == ["x: PUNCTUATED BY (a)", "y: PUNCTUATED BY (b)"]


def test_a_repair_is_traced_to_the_base_stream() -> None:
    renamed = project(scan(SILENT, "s"), **{"a.id": "s.id"})
    assert repair(auctions_with_bids(renamed, scan(BID, "b"))) == ["auction: PUNCTUATED BY (id)"]


def test_there_is_no_repair_where_no_constraint_helps() -> None:
    assert repair(join(scan(SILENT, "a"), scan(BID, "b"), residual="a.id < b.auction")) == []
    counted = group(where(scan(BID), "bid.auction > 0"), "bid.auction")
    assert repair(join(counted, scan(AUCTION, "a"), on="count = a.id")) == []
