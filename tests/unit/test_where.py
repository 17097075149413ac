"""Subqueries in WHERE; the goldens show the plans and what refusals say."""

from __future__ import annotations

import pytest

from caesura.diagnostics.code import Code
from caesura.plan import Equality, Join, Scan, walk
from tests.unit.test_bind import AUCTION, NAMES, codes, plan


def test_exists_is_the_join_that_could_be_written_in_from() -> None:
    partner = "bid AS b {} a.id = b.auction AND b.price > 3"
    exists = f"EXISTS (SELECT * FROM {partner.format('WHERE')})"
    start = "SELECT a.id FROM auction AS a"
    assert plan(f"{start} WHERE {exists}") == plan(f"{start} LEFT SEMI JOIN {partner.format('ON')}")
    for written in (f"NOT {exists}", f"NOT (NOT (NOT {exists}))"):
        assert plan(f"{start} WHERE {written}") == plan(f"{start} LEFT ANTI JOIN {partner.format('ON')}")


def test_in_is_a_semi_join_on_equality() -> None:
    joined = plan("SELECT id FROM auction LEFT SEMI JOIN bid ON id = auction AND seller = price")
    assert plan("SELECT id FROM auction WHERE (id, seller) IN (SELECT auction, price FROM bid)") == joined


def test_names_inside_a_subquery_hide_those_around_it() -> None:
    (join,) = (
        node
        for node in walk(plan("SELECT id FROM auction a WHERE EXISTS (SELECT 1 FROM names a WHERE a.id = seller)"))
        if isinstance(node, Join)
    )
    assert join.equalities == (Equality("a_2.id", "a.seller"),)
    assert join.inputs == (Scan(AUCTION, "a"), Scan(NAMES, "a_2"))


def test_a_column_around_is_ambiguous_also_where_its_alias_is_hidden() -> None:
    text = "SELECT seller FROM auction AS a, names AS n WHERE EXISTS (SELECT 1 FROM bid AS a WHERE id = 1)"
    assert codes(text) == [Code.AMBIGUOUS_COLUMN]


SUBQUERIES = {
    "id NOT IN (SELECT auction FROM bid)": Code.SUBQUERY,
    "NOT (id IN (SELECT auction FROM bid))": Code.SUBQUERY,
    "id NOT IN (VALUES 1)": Code.SUBQUERY,
    "seller = 1 OR id IN (SELECT auction FROM bid)": Code.SUBQUERY,
    "EXISTS (SELECT 1 FROM bid) = TRUE": Code.SUBQUERY,
    "id = (SELECT MAX(auction) FROM bid)": Code.SUBQUERY,
    "id > ALL (SELECT auction FROM bid)": Code.SUBQUERY,
    "id IN (1, (SELECT 2))": Code.SUBQUERY,
    "EXISTS (SELECT 1 FROM bid JOIN names ON names.id = a.id)": Code.SUBQUERY,
    "EXISTS (SELECT 1 FROM (SELECT price FROM bid WHERE auction = a.id))": Code.SUBQUERY,
    "EXISTS (SELECT MAX(price) FROM bid WHERE auction = a.id)": Code.SUBQUERY,
    "EXISTS (SELECT auction FROM bid WHERE auction = a.id GROUP BY auction)": Code.SUBQUERY,
    "EXISTS (SELECT price FROM bid WHERE auction = a.id UNION ALL SELECT price FROM bid)": Code.SUBQUERY,
    "EXISTS (SELECT 1 FROM bid WHERE EXISTS (SELECT 1 FROM names WHERE names.id = seller))": Code.SUBQUERY,
    "EXISTS (SELECT 1 FROM bid LIMIT 1)": Code.CLAUSE,
    "EXISTS (SELECT DISTINCT ON (price) price FROM bid)": Code.CLAUSE,
    "EXISTS (SELECT 1)": Code.NO_INPUT,
    "EXISTS (SELECT lost FROM bid)": Code.UNKNOWN_COLUMN,
    "EXISTS (SELECT 1 FROM bid AS a WHERE a.seller = 1)": Code.UNKNOWN_COLUMN,
    "id IN (SELECT auction FROM bid GROUP BY auction EMIT CHANGES)": Code.EMIT_CHANGES,
    "id IN (SELECT auction FROM bid EMIT CHANGES)": Code.EMIT_CHANGES,
    "id IN (SELECT * FROM bid)": Code.ALIAS_COUNT,
    "id IN (SELECT name FROM names)": Code.INCOMPARABLE,
    "MAX(id) IN (SELECT auction FROM bid)": Code.MISPLACED_AGGREGATE,
}


@pytest.mark.parametrize("condition", SUBQUERIES)
def test_a_subquery_that_is_no_join_is_refused(condition: str) -> None:
    assert codes(f"SELECT id FROM auction AS a WHERE seller > 1 AND {condition}") == [SUBQUERIES[condition]]
