from __future__ import annotations

import json

from caesura.catalog import PunctuatedBy
from caesura.diagnostics import Source, Span
from caesura.plan import Group, Join, Query, Scan
from caesura.safety.diagnose import diagnose
from caesura.safety.report import lines, report
from caesura.safety.verdict import check
from tests.plans import AUCTION, BID, group, join, project, query, scan, stream, where

TEXT = Source("q4.sql", "SELECT *\nFROM bid AS b\nJOIN auction AS a ON b.auction = a.id;\n")
BY_SELLER = stream("auction", "id seller", PunctuatedBy(("seller",)))


def at(text: str) -> Span:
    start = TEXT.text.index(text)
    return Span(TEXT, start, start + len(text))


def joined(auction: Scan) -> Join:
    return join(Scan(BID, "b", span=at("bid AS b")), auction, on="b.auction = a.id")


UNSAFE = Query(
    "select_1", joined(Scan(BY_SELLER, "a", span=at("auction AS a"))), "select", span=at("SELECT *\nFROM")
)


def test_the_object_has_exactly_the_fields_of_the_contract() -> None:
    assert report([check(UNSAFE)]) == {
        "queries": [
            {
                "name": "select_1",
                "span": {"start": {"line": 1, "column": 1}, "end": {"line": 2, "column": 5}},
                "verdict": "unsafe",
                "states": [
                    {
                        "operator": "join",
                        "input": "b",
                        "bounded": False,
                        "by": None,
                        "because": "a row of `bid` waits for `auction` for ever:"
                        " `auction` punctuates (seller), which this join does not pin;"
                        " a synopsis of `bid` would have to know every auction:"
                        " it is needed as it is, and nothing bounds it",
                    },
                    {
                        "operator": "join",
                        "input": "a",
                        "bounded": True,
                        "by": "punctuation",
                        "because": "a row of `auction` leaves when `bid` closes its auction:"
                        " PUNCTUATED BY (auction)",
                    },
                ],
                "blocked": [],
                "repairs": [[{"stream": "auction", "add": "PUNCTUATED BY (id)"}]],
            }
        ]
    }


def test_a_blocked_operator_is_reported_beside_a_safe_verdict() -> None:
    (found,) = report([check(query(group(scan(BID))))])["queries"]
    assert (found["verdict"], found["span"]) == ("safe", None)
    assert found["blocked"] == [{"operator": "group", "because": "nothing closes its one group before `bid` ends"}]


def test_the_object_is_json() -> None:
    found = report([check(UNSAFE)])
    assert json.loads(json.dumps(found)) == found


def test_the_lines_name_verdict_states_repair_and_note() -> None:
    assert list(lines(check(UNSAFE))) == [
        "select_1: unsafe",
        "  join `b`: unbounded: a row of `bid` waits for `auction` for ever:"
        " `auction` punctuates (seller), which this join does not pin;"
        " a synopsis of `bid` would have to know every auction: it is needed as it is, and nothing bounds it",
        "  join `a`: punctuation: a row of `auction` leaves when `bid` closes its auction:"
        " PUNCTUATED BY (auction)",
        "  repair: add PUNCTUATED BY (id) to `auction`",
        "  note: this assumes that the promised punctuations keep coming: `bid` PUNCTUATED BY (auction)",
    ]


def test_a_stateless_query_has_one_line_about_its_state() -> None:
    assert list(lines(check(query(scan(BID))))) == ["select_1: safe", "  query: stateless: it keeps no rows"]


def test_an_unbounded_join_state_points_at_both_inputs() -> None:
    (found,) = diagnose(check(UNSAFE))
    assert (found.code, found.severity) == ("CAE0102", "error")
    assert found.message == "the join state of `bid` grows without bound"
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("bid AS b", "every row waits for an auction that may still come"),
        ("auction AS a", "never punctuates `id`"),
    ]
    assert found.because == ("`auction` punctuates (seller), which this join does not pin",)
    assert found.help == ("add PUNCTUATED BY (id) to `auction`, or UNIQUE (id) if each id comes once",)


def test_a_scheme_that_is_pinned_in_part_is_said_to_be() -> None:
    pairs = stream("auction", "id seller", PunctuatedBy(("id", "seller")))
    (found,) = diagnose(check(query(joined(Scan(pairs, "a", span=at("auction AS a"))))))
    assert found.labels[1].text == "never punctuates `id` alone"
    assert found.because == ("`auction` punctuates (id, seller), of which this join does not pin seller",)


def test_a_join_without_an_equality_says_that_its_condition_pins_nothing() -> None:
    found, _ = diagnose(check(query(join(scan(BID, "b"), scan(AUCTION, "a"), residual="a.id < b.auction"))))
    assert found.because[-1].startswith("`a.id < b.auction` pins no value: only an equality of two columns")
    assert found.help == ("join `auction` by an equality on a column that it can punctuate",)


def test_an_unbounded_group_is_an_error_of_its_own() -> None:
    grouped = Group(scan(BID), ("bid.bidder",), (), span=at("bid AS b"))
    (found,) = diagnose(check(query(grouped)))
    assert (found.code, found.severity) == ("CAE0103", "error")
    assert found.message == "the groups of `bid` by (bidder) grow without bound"
    assert [label.text for label in found.labels] == ["no group is ever complete"]
    assert found.because == ("`bid` punctuates (auction), but auction is not grouped by",)
    assert found.help == ("add PUNCTUATED BY (bidder) to `bid`, or UNIQUE (bidder) if each bidder comes once",)


def test_a_blocked_operator_is_a_warning() -> None:
    (found,) = diagnose(check(query(group(scan(BID)))))
    assert (found.code, found.severity) == ("CAE0104", "warning")


def test_a_safe_query_has_no_diagnostics() -> None:
    assert diagnose(check(query(joined(scan(AUCTION, "a"))))) == ()


def test_a_missing_bound_is_named_with_an_example() -> None:
    one, other = scan(stream("s", "a b"), "s"), scan(stream("t", "d e"), "t")
    joined = join(where(one, "s.a > 10"), other, on="s.a = t.d")
    found, _ = diagnose(check(query(project(joined, a="s.a"))))
    assert found.because[-1] == (
        "a synopsis of `s` would have to know every a: it is needed as it is, and nothing bounds it from above"
    )
    assert found.help[-1] == "bound s.a from above, for instance a < 1011, in WHERE or as a CHECK of `s`"
