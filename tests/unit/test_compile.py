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
