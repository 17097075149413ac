"""From plans to state tables, without Spark."""

from __future__ import annotations

from caesura.diagnostics import Source
from caesura.spark.compile import compile_plans
from caesura.sql.bind import bind


def test_inputs_that_read_under_the_same_alias_have_states_of_their_own() -> None:
    text = """
    CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) USING json LOCATION 'bid';
    SELECT b.price FROM bid AS b JOIN (SELECT auction, price AS other FROM bid AS B) AS c ON b.auction = c.auction
    """
    (query,) = bind(Source("test.sql", text)).queries
    names = [table.name for table in compile_plans((query.plan,)).tables]
    assert len({name.lower() for name in names}) == len(names)


STREAMS = """
    CREATE STREAM a (id BIGINT, seller BIGINT, note STRING, at TIMESTAMP, size INT, UNIQUE (id))
      USING json LOCATION 'a';
    CREATE STREAM b (
      auction BIGINT, price DOUBLE, note STRING, at TIMESTAMP, PUNCTUATED BY (auction), ORDERED BY (at)
    ) USING json LOCATION 'b' OPTIONS (release '1 hour');
"""


def kept(*queries: str) -> dict[str, list[str]]:
    """The columns of the tables in which joins keep rows."""
    plans = tuple(query.plan for query in bind(Source("test.sql", STREAMS + ";".join(queries))).queries)
    tables = compile_plans(plans).tables
    return {
        table.name: [column.name for column in table.columns]
        for table in tables
        if table.name.startswith("join: ")
    }


def test_a_join_keeps_what_is_selected_compared_or_closed() -> None:
    """`b.at` is the time by which its rows are given up."""
    found = kept(
        "SELECT a.seller, b.price FROM a JOIN b ON a.id = b.auction AND a.size < b.price WHERE a.note LIKE 'x%'"
    )
    assert found["join: a"] == ["a.id", "a.seller", "a.size"]
    assert found["join: b"] == ["b.auction", "b.price", "b.at"]


def test_a_join_keeps_what_any_of_its_readers_needs() -> None:
    found = kept(
        "CREATE SINK one USING noop; INSERT INTO one SELECT a.seller FROM a JOIN b ON a.id = b.auction",
        "CREATE SINK two USING noop; INSERT INTO two SELECT a.size, a.seller FROM a JOIN b ON a.id = b.auction",
    )
    assert found["join: a"] == ["a.id", "a.seller", "a.size"]


def test_what_ranks_all_columns_needs_all_of_them() -> None:
    found = kept(
        """SELECT id FROM (SELECT a.*, b.price, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price) AS n
        FROM a JOIN b ON a.id = b.auction) AS ranked WHERE n = 1"""
    )
    assert found["join: a"] == ["a.id", "a.seller", "a.note", "a.at", "a.size"]


def test_of_rows_that_are_only_counted_something_is_kept() -> None:
    found = kept("SELECT COUNT(*) AS n FROM a CROSS JOIN (VALUES (1), (2)) AS v (x)")
    assert all(found.values())
