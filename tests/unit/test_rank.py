"""Rankings: what a condition limits, what is passed on, what repairs one, and what makes one grow."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Plan, Rank, walk
from caesura.punctuation import Scheme
from caesura.safety.diagnose import diagnose
from caesura.safety.repair import amended, repairs
from caesura.safety.schemes import derive
from caesura.safety.states import open_proofs
from caesura.safety.verdict import Verdict, check
from caesura.safety.witness import Item, witness
from caesura.sql.bind import bind

FIRST_OF_BIDDER = "SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY bidder ORDER BY at) = 1"


def planned(query: str, columns: str = "PUNCTUATED BY (auction)") -> Plan:
    stream = f"CREATE STREAM bid (auction BIGINT, bidder BIGINT, price BIGINT, at TIMESTAMP NOT NULL, {columns})"
    (found,) = bind(Source("q.sql", f"{stream} USING json LOCATION 'bid'; {query};")).queries
    return found.plan


def ranks(plan: Plan) -> list[Rank]:
    return [node for node in walk(plan) if isinstance(node, Rank)]


@pytest.mark.parametrize(
    ("condition", "limit"),
    {
        "n <= 3": 3,
        "3 >= n": 3,
        "n < 3": 2,
        "3 > n": 2,
        "n = 1": 1,
        "1 = n": 1,
        "n = 4": 4,
        "n IN (2, 5)": 5,
        "n BETWEEN 2 AND 6": 6,
        "n <= 3 AND price > 5 AND n <= 2": 2,
        "n <= 0": 0,
        "n >= 3": None,
        "n <= 3 OR price > 5": None,
        "n <= price": None,
        "n + 1 <= 3": None,
        "NOT n <= 3": None,
    }.items(),
)
def test_a_condition_around_a_number_limits_it(condition: str, limit: int | None) -> None:
    inner = "SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid"
    around = planned(f"SELECT * FROM ({inner}) WHERE {condition}")
    qualified = planned(f"{inner} QUALIFY {condition}")
    assert [rank.limit for rank in (*ranks(around), *ranks(qualified))] == [limit, limit]


def test_a_condition_on_another_number_does_not_limit_the_rows_that_are_counted() -> None:
    numbers = "RANK() OVER (PARTITION BY auction ORDER BY price) AS r, ROW_NUMBER() OVER (ORDER BY at) AS n"
    first, second = ranks(planned(f"SELECT {numbers} FROM bid QUALIFY r <= 3"))
    assert (first.limit, second.limit) == (None, None)


def test_a_number_in_another_query_of_from_does_not_reach_below_what_takes_rows_together() -> None:
    inner = "SELECT auction, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bid"
    (rank,) = ranks(planned(f"SELECT * FROM (SELECT n, COUNT(*) AS c FROM ({inner}) GROUP BY n) WHERE n <= 3"))
    assert rank.limit is None


def test_partitions_and_bounds_are_passed_on() -> None:
    promises = "PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (at)"
    by_time = planned("SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction ORDER BY at) <= 3", promises)
    assert derive(by_time).of(by_time) == (Scheme(("auction",)), Scheme(("at",), ordered=True))
    falling = planned(
        "SELECT * FROM bid QUALIFY RANK() OVER (PARTITION BY auction ORDER BY at DESC) <= 3", promises
    )
    assert derive(falling).of(falling) == (Scheme(("auction",)),)


@pytest.mark.parametrize(
    ("query", "added"),
    [
        (
            "SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY bidder ORDER BY at) = 1",
            "PUNCTUATED BY (bidder)",
        ),
        ("SELECT *, ROW_NUMBER() OVER (ORDER BY at) AS n FROM bid", "ORDERED BY (at)"),
        ("SELECT * FROM bid QUALIFY RANK() OVER (ORDER BY at) <= 3", "ORDERED BY (at)"),
    ],
)
def test_a_repair_makes_it_safe(query: str, added: str) -> None:
    plan = planned(query)
    (repair,) = repairs(plan)
    assert [addition.add for addition in repair] == [added]
    assert list(open_proofs(amended(plan, repair))) == []


def judged(query: str, columns: str = "PUNCTUATED BY (auction)") -> Verdict:
    stream = f"CREATE STREAM bid (auction BIGINT, bidder BIGINT, price BIGINT, at TIMESTAMP, {columns})"
    (found,) = bind(Source("q.sql", f"{stream} USING json LOCATION 'bid'; {query};")).queries
    return check(found)


def test_what_may_be_null_is_said_to_be_in_the_way() -> None:
    (error,) = diagnose(judged("SELECT *, ROW_NUMBER() OVER (ORDER BY at) AS n FROM bid", "ORDERED BY (at)"))
    assert error.code == "CAE0110"
    assert error.because[:2] == (
        "nothing limits ROW_NUMBER, so that every row is kept",
        "at may be NULL, and no bound says that no such row comes",
    )
    assert error.help[-1] == "declare at NOT NULL, or add WHERE at IS NOT NULL"


def cells(items: tuple[Item, ...], column: str) -> list[object]:
    return [item.cells[column] for item in items if not item.punctuation]


def test_the_witness_of_open_partitions_has_a_row_for_each() -> None:
    found = witness(planned(FIRST_OF_BIDDER), 3)
    assert found is not None
    assert cells(found.items, "bidder") == [1, 2, 3]


def test_the_witness_of_a_ranking_with_a_limit_has_equal_rows() -> None:
    found = witness(planned("SELECT * FROM bid QUALIFY RANK() OVER (ORDER BY price) <= 2"), 3)
    assert found is not None
    assert cells(found.items, "price") == [1, 1, 1]
    assert cells(found.items, "bidder") == [1, 2, 3]
    unlimited = witness(planned("SELECT *, RANK() OVER (ORDER BY price) AS n FROM bid"), 3)
    assert unlimited is not None
    assert cells(unlimited.items, "price") == [1, 2, 3]
