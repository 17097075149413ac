"""What demand is expected to save, and when it is chosen."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Join, walk
from caesura.planning.choose import Choice, choose
from caesura.planning.cost import CostModel
from caesura.planning.demand import Demand, Estimate
from caesura.planning.enumerate import SafeTrees
from caesura.planning.statistics import UNKNOWN
from caesura.safety.tree import Arrangement
from caesura.sql.bind import bind

WINDOW = 1200
BUSHY = ((0, 1), (2, 3))


def clique(dmax: int, hint: str = "", rate: str = "rate 1, ") -> Join:
    """Four streams of one row a second, of which each pair is compared on a column of its own."""
    names, pairs = "abcd", ("ab", "ac", "ad", "bc", "bd", "cd")
    declared = "".join(
        f"CREATE STREAM {name} (t TIMESTAMP, {', '.join(f'k{pair} INT' for pair in mine)}, ORDERED BY (t)) "
        f"USING json LOCATION '{name}' {options};"
        for name in names
        for mine in ([pair for pair in pairs if name in pair],)
        for options in (_options(rate, dmax, mine),)
    )
    inputs = ", ".join(f"{name} [RANGE INTERVAL {WINDOW} SECONDS] AS {name}" for name in names)
    where = " AND ".join(f"{pair[0]}.k{pair} = {pair[1]}.k{pair}" for pair in pairs)
    (query,) = bind(Source("q.sql", f"{declared} SELECT {hint} a.t FROM {inputs} WHERE {where}")).queries
    return next(node for node in walk(query.plan) if isinstance(node, Join))


def _options(rate: str, dmax: int, columns: list[str]) -> str:
    distinct = ", ".join(f"k{pair} {dmax}" for pair in columns)
    return f"OPTIONS ({rate}distinct '{distinct}')" if rate else ""


def estimate(dmax: int) -> Estimate:
    join = clique(dmax)
    return Demand(CostModel(SafeTrees(join), UNKNOWN.of(join))).of(BUSHY)


def test_a_row_is_wanted_by_pairs_and_not_by_each_source() -> None:
    """7,200 pairs in 200² combinations, and twice as many rows of both while it waits."""
    wanted = dict(estimate(200).wanted)
    assert wanted[0] == wanted[1] == pytest.approx(0.51, abs=0.02)


def test_next_to_nothing_is_stored_of_partial_results() -> None:
    join, cost = clique(200), estimate(200).cost
    without = CostModel(SafeTrees(join), UNKNOWN.of(join)).cost(BUSHY)
    assert cost.intermediates < 0.01 * without.intermediates
    assert sum(rows for _, rows in cost.state) == pytest.approx(4 * WINDOW, rel=0.01)


def test_fewer_values_mean_more_demand() -> None:
    shares = [dict(estimate(dmax).wanted)[0] for dmax in (50, 100, 200, 400)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.99


def kinds(choice: Choice) -> set[tuple[bool, bool]]:
    assert choice.chosen is not None
    flat = tuple(range(4))
    return {(each.how.tree != flat, each.how.demand) for each in (choice.chosen, *choice.runners_up)}


def test_one_join_trees_and_trees_on_demand_are_compared() -> None:
    assert kinds(choose(clique(200))) >= {(False, False), (True, False), (True, True)}


def test_it_is_not_thought_of_by_rates_that_are_made_up() -> None:
    assert {demand for _, demand in kinds(choose(clique(200, rate="")))} == {False}


def test_hints_are_followed() -> None:
    forced = choose(clique(200, "/*+ TREE((a, b), (c, d)), DEMAND */"))
    assert forced.how == Arrangement(BUSHY, demand=True)
    assert {demand for _, demand in kinds(choose(clique(200, "/*+ NO_DEMAND */")))} == {False}
    assert {demand for _, demand in kinds(choose(clique(200, "/*+ DEMAND */")))} == {True}
