"""What demand is expected to save, and when it is chosen."""

from __future__ import annotations

import pytest

from caesura.diagnostics import Source
from caesura.plan import Join, walk
from caesura.planning.choose import TREES, Choice, _to_look_at, choose, planned
from caesura.planning.cost import CostModel
from caesura.planning.demand import Demand, Estimate
from caesura.planning.enumerate import SafeTrees
from caesura.planning.statistics import UNKNOWN
from caesura.safety.states import judge
from caesura.safety.tree import Arrangement, leaves, shaped
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


def test_what_is_summed_up_does_not_wait() -> None:
    """A synopsis is made for one join of rows as they come."""
    streams = "".join(f"CREATE STREAM {name} ({name}1 INT) USING json LOCATION '{name}';" for name in "stu")
    on = "s.s1 = t.t1 AND t.t1 = u.u1 AND s.s1 > 10 AND t.t1 < 20"
    sql = f"{streams} SELECT /*+ TREE((s, t), u), DEMAND */ s.s1 FROM s, t, u WHERE {on}"
    (query,) = bind(Source("q.sql", sql)).queries
    assert all(state.bounded for state in judge(shaped(query.plan)).states)
    assert not any(isinstance(node, Join) and node.demand for node in walk(planned(query).plan))


def test_rows_with_a_map_do_not_wait() -> None:
    streams = "".join(
        f"CREATE STREAM {name} (k INT, m MAP<STRING, INT>, PUNCTUATED BY (k)) USING json LOCATION '{name}';"
        for name in "stu"
    )
    sql = f"{streams} SELECT /*+ TREE((s, t), u), DEMAND */ s.k FROM s, t, u WHERE s.k = t.k AND t.k = u.k"
    (query,) = bind(Source("q.sql", sql)).queries
    found = planned(query)
    assert found.choices[0].because == "rows with MAP<STRING, INT> cannot be compared, and so not wait"
    assert not any(isinstance(node, Join) and node.demand for node in walk(found.plan))


def test_with_demand_trees_are_looked_at_that_are_not_safe_without() -> None:
    streams = "".join(
        f"CREATE STREAM {name} (x INT, y INT, PUNCTUATED BY (x), PUNCTUATED BY (y)) USING json LOCATION '{name}';"
        for name in "rst"
    )
    on = "r.y = s.x AND s.y = t.x AND t.y = r.x"
    (query,) = bind(Source("q.sql", f"{streams} SELECT /*+ DEMAND */ r.x FROM r, s, t WHERE {on}")).queries
    (choice,) = planned(query).choices
    looked_at = {candidate.how.tree for candidate in (choice.chosen, *choice.runners_up) if candidate is not None}
    assert {((0, 1), 2), (0, 1, 2)} <= looked_at


def test_of_many_trees_some_of_each_kind_are_looked_at() -> None:
    streams = "".join(
        f"CREATE STREAM {name} (k INT, PUNCTUATED BY (k)) USING json LOCATION '{name}';" for name in "abcdefg"
    )
    on = " AND ".join(f"a.k = {name}.k" for name in "bcdefg")
    sql = f"{streams} SELECT /*+ DEMAND */ a.k FROM a, b, c, d, e, f, g WHERE {on}"
    (query,) = bind(Source("q.sql", sql)).queries
    join = next(node for node in walk(query.plan) if isinstance(node, Join))
    looked_at = _to_look_at(CostModel(SafeTrees(join), UNKNOWN.of(join)), join)
    assert len(looked_at) <= 1.1 * TREES
    first = {frozenset(leaves(tree[0])) for tree in looked_at if isinstance(tree, tuple)}
    assert {len(each) for each in first} == {1, 2, 3, 4, 5, 6}
