from __future__ import annotations

from caesura.catalog import Check, OrderedBy, PunctuatedBy
from caesura.diagnostics import Source
from caesura.plan import Session
from caesura.safety.witness import Item, witness
from caesura.sql.bind import bind
from caesura.types import Type
from tests.plans import AUCTION, BID, expr, group, join, scan, stream, where


def rows(items: tuple[Item, ...]) -> list[dict[str, object]]:
    return [dict(item.cells) for item in items if not item.punctuation]


def test_a_safe_query_has_none() -> None:
    assert witness(join(scan(AUCTION, "a"), scan(BID, "b"), on="a.id = b.auction"), 3) is None


def test_the_rows_are_of_the_input_that_waits_and_its_punctuations_follow() -> None:
    silent = stream("bid", "auction")
    auction = stream("auction", "id seller", PunctuatedBy(("id",)))
    found = witness(join(scan(auction, "a"), scan(silent, "b"), on="a.id = b.auction"), 2)
    assert found is not None
    assert [item.described for item in found.items] == [
        {"stream": "auction", "row": {"id": 1, "seller": 1}},
        {"stream": "auction", "row": {"id": 2, "seller": 2}},
        {"stream": "auction", "punctuation": {"id": 1}},
        {"stream": "auction", "punctuation": {"id": 2}},
    ]
    assert found.items[-1].in_band == {"_punctuation": '{"id": 2}'}


def test_partners_that_are_reached_come_too() -> None:
    s1, s2, s3 = stream("s1", "a"), stream("s2", "a b", PunctuatedBy(("a",))), stream("s3", "b")
    found = witness(join(scan(s1), scan(s2), scan(s3), on="s1.a = s2.a, s2.b = s3.b"), 1)
    assert found is not None
    assert {item.stream.name for item in found.items} in ({"s2"}, {"s3"})
    chain = join(scan(stream("s1", "a", PunctuatedBy(("a",)))), scan(s2), scan(s3), on="s1.a = s2.a, s2.b = s3.b")
    found = witness(where(chain, "s1.a > 0"), 1)
    assert found is not None
    assert [item.stream.name for item in found.items] == ["s3"]


def test_where_only_null_is_in_the_way_the_rows_have_it_and_no_punctuation_speaks_of_it() -> None:
    source = """CREATE STREAM bid (auction BIGINT, bidder BIGINT, price BIGINT,
    PUNCTUATED BY (auction), PUNCTUATED BY (bidder)) USING json LOCATION 'bid';
    SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid;"""
    (query,) = bind(Source("test", source)).queries
    found = witness(query.plan, 2)
    assert found is not None
    assert [item.described for item in found.items] == [
        {"stream": "bid", "row": {"auction": None, "bidder": 1, "price": 1}},
        {"stream": "bid", "row": {"auction": None, "bidder": 2, "price": 2}},
        {"stream": "bid", "punctuation": {"bidder": 1}},
        {"stream": "bid", "punctuation": {"bidder": 2}},
    ]


def test_a_group_that_never_closes_gets_a_row_per_group() -> None:
    found = witness(group(scan(BID), "bid.bidder"), 3)
    assert found is not None
    assert [row["bidder"] for row in rows(found.items)] == [1, 2, 3]
    assert [item.cells for item in found.items if item.punctuation] == [{"auction": k} for k in (1, 2, 3)]


def test_rows_that_would_be_one_session_come_further_apart_than_its_gap() -> None:
    seen = stream("s", "at", type=Type("TIMESTAMP"))
    found = witness(Session(scan(seen), "s.at", expr("INTERVAL '90' SECONDS"), (), ()), 3)
    assert found is not None
    assert [row["at"] for row in rows(found.items)] == [f"2024-01-01T00:0{k}Z" for k in ("1:31", "3:02", "4:33")]
    assert found.doubts == ()
    found = witness(Session(scan(seen), "s.at", expr("INTERVAL '9' DAYS"), (), ()), 3)
    assert found is not None
    assert found.doubts[:1] == ("rows within INTERVAL '9' DAYS of each other are one session",)


def test_checks_and_filters_are_kept_to() -> None:
    checked = stream("s", "k kind size", Check(expr("kind BETWEEN 10 AND 11")), OrderedBy("k"))
    found = witness(group(where(where(scan(checked), "s.size > 99"), "s.k >= 7"), "s.size"), 3)
    assert found is not None
    assert rows(found.items) == [
        {"k": 7, "kind": 10, "size": 100},
        {"k": 8, "kind": 11, "size": 101},
        {"k": 9, "kind": 10, "size": 102},
    ]


def test_a_constant_of_one_stream_is_the_value_of_what_it_equals() -> None:
    kinds, other = stream("k", "kind x"), stream("s", "kind")
    found = witness(join(where(scan(kinds), "k.kind = 7"), scan(other), on="k.kind = s.kind"), 2)
    assert found is not None
    assert {row["kind"] for row in rows(found.items)} == {7}


def test_every_scalar_type_has_values() -> None:
    for type in ("BIGINT", "TINYINT", "DOUBLE", "DECIMAL(10, 2)", "STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        found = witness(group(scan(stream("s", "a", type=Type(type))), "s.a"), 3)
        if type == "TINYINT":
            assert found is None  # a TINYINT has few values, so its groups are bounded
            continue
        assert found is not None
        values = [row["a"] for row in rows(found.items)]
        assert len(set(values)) == 3
        assert None not in values
