"""Demand that goes through groups, DISTINCT and projections: where a semi join is put, and where none is."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.catalog import Traffic
from caesura.diagnostics import CaesuraError, Source
from caesura.explain.describe import describe
from caesura.plan import Distinct, Group, Join, Pipeline, Plan, Project, Query, Scan, walk
from caesura.planning.choose import chosen, demanded, executed, let_through, planned
from caesura.planning.statistics import UNKNOWN, Statistics
from caesura.planning.through import gated, gates
from caesura.safety.states import judge
from caesura.sql.bind import bind

DECLARED = """
CREATE STREAM x (k BIGINT, v BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'x';
CREATE STREAM z (k BIGINT, w BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'z';
CREATE STREAM y (k BIGINT, n BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'y';
CREATE STREAM u (k BIGINT, v BIGINT, PUNCTUATED BY (v), PUNCTUATED BY (k)) USING json LOCATION 'u';
CREATE STREAM passing (k BIGINT, PUNCTUATED BY (k) LIFESPAN INTERVAL 5 SECONDS) USING json LOCATION 'passing';
CREATE STREAM silent (k BIGINT) USING json LOCATION 'silent';
CREATE TABLE t (k BIGINT, n BIGINT) USING json LOCATION 't';
"""
COUNTED = "SELECT x.k, COUNT(*) AS n FROM x JOIN z ON x.k = z.k GROUP BY x.k"
DISTINCT = "SELECT DISTINCT x.k, x.v FROM x JOIN z ON x.k = z.k"
BY_TWO = "SELECT u.k, u.v FROM u JOIN z ON u.k = z.k GROUP BY u.k, u.v"
PLAIN = "SELECT x.k AS k, x.v + 1 AS v FROM x JOIN z ON x.k = z.k WHERE x.v + z.w > 0"
SELECTIVE = Statistics({"x": Traffic(1000.0), "y": Traffic(1.0, (("k", 1000.0),), (("k", 1000.0),))})


def bound(sql: str) -> Pipeline:
    return bind(Source("test.sql", f"{DECLARED} {sql};"))


def asked(sql: str) -> Query:
    return bound(sql).queries[0]


def semi_joins(plan: Plan) -> list[str]:
    """`x ⋉ y` of those that read relations as they are."""
    found = (node for node in walk(plan) if isinstance(node, Join) and node.kind == "semi")
    return [" ⋉ ".join(" ".join(s.alias for s in walk(e) if isinstance(s, Scan)) for e in n.inputs) for n in found]


def wanted_by(sql: str, measured: Statistics = UNKNOWN) -> list[str]:
    query = asked(sql)
    return semi_joins(gated(query, gates(query, measured)).plan)


@pytest.mark.parametrize("below", [COUNTED, DISTINCT, PLAIN, f"{COUNTED} HAVING COUNT(*) > 1"])
def test_a_hint_lets_demand_through(below: str) -> None:
    text = f"SELECT /*+ DEMAND */ g.k, y.n FROM ({below}) AS g JOIN y ON g.k = y.k"
    assert wanted_by(text) == ["x ⋉ y"]
    assert wanted_by(text.replace("/*+ DEMAND */", "")) == []


@pytest.mark.parametrize("below", [COUNTED, DISTINCT, PLAIN])
def test_what_a_table_does_not_want_is_dropped_without_a_hint(below: str) -> None:
    text = f"SELECT g.k FROM ({below}) AS g JOIN t ON g.k = t.k"
    assert wanted_by(text) == ["x ⋉ t"]
    assert wanted_by(text.replace("SELECT", "SELECT /*+ NO_DEMAND */", 1)) == []


def test_values_are_a_table() -> None:
    assert wanted_by(f"SELECT g.k FROM ({COUNTED}) AS g JOIN (VALUES (1), (2)) AS few (k) ON g.k = few.k") == [
        "x ⋉ few"
    ]


def test_the_semi_join_is_where_the_rows_come_from() -> None:
    plan = planned(asked(f"SELECT /*+ DEMAND */ g.n FROM ({COUNTED}) AS g JOIN y ON g.k = y.k")).plan
    assert describe(plan).splitlines()[6:] == [
        "            join on `x.k` = `z.k`",
        "              semi join on `x.k` = `y.k`",
        "                scan stream x as x",
        "                scan stream y as y",
        "              scan stream z as z",
        "    scan stream y as y",
    ]


def test_all_columns_that_are_compared_are_judged_at_once() -> None:
    query = asked(f"SELECT g.k FROM ({DISTINCT}) AS g JOIN t ON g.k = t.k AND t.n = g.v")
    assert [gate.columns for gate in gates(query)] == [(("x.k", "t.k"), ("x.v", "t.n"))]


def test_each_input_has_its_own_gate() -> None:
    below = "SELECT x.k, x.v, z.w FROM x JOIN z ON x.k = z.k"
    assert wanted_by(f"SELECT g.k FROM ({below}) AS g JOIN t ON g.v = t.k AND g.w = t.n") == ["x ⋉ t", "z ⋉ t"]


def test_demand_goes_to_the_lowest_join() -> None:
    above = f"SELECT DISTINCT g.k FROM ({DISTINCT}) AS g JOIN u ON g.k = u.k"
    assert wanted_by(f"SELECT /*+ DEMAND */ y.n FROM ({above}) AS h JOIN y ON h.k = y.k") == ["x ⋉ y"]


def test_an_alias_that_is_used_twice_is_two_names() -> None:
    query = asked(f"SELECT /*+ DEMAND */ x.n FROM ({COUNTED}) AS g JOIN y AS x ON g.k = x.k")
    (gate,) = [node for node in walk(planned(query).plan) if isinstance(node, Join) and node.kind == "semi"]
    assert describe(gate).splitlines()[:3] == [
        "semi join on `x.k` = `x.k wanted`",
        "  scan stream x as x",
        "  project `x.k wanted`: `x.k`",
    ]


def test_without_a_hint_a_stream_is_asked_if_it_wants_little() -> None:
    text = f"SELECT g.k FROM ({DISTINCT}) AS g JOIN y ON g.k = y.k"
    busy = Statistics({"x": Traffic(1000.0), "y": Traffic(1000.0, (("k", 10.0),), (("k", 1.0),))})
    assert wanted_by(text, SELECTIVE) == ["x ⋉ y"]
    assert wanted_by(text, busy) == []
    assert wanted_by(text.replace("SELECT", "SELECT /*+ NO_DEMAND */", 1), SELECTIVE) == []


def test_a_group_that_ranges_may_close_takes_a_hint() -> None:
    assert wanted_by(f"SELECT g.k FROM ({COUNTED}) AS g JOIN y ON g.k = y.k", SELECTIVE) == []


@pytest.mark.parametrize(
    "text",
    [
        # a computed column
        "SELECT g.k FROM (SELECT x.k + 1 AS k, x.v FROM x JOIN z ON x.k = z.k) AS g JOIN t ON g.k = t.k",
        # a join that gives rows without partners, above or below
        f"SELECT g.k FROM ({DISTINCT}) AS g LEFT JOIN t ON g.k = t.k",
        "SELECT g.k FROM (SELECT DISTINCT x.k FROM x LEFT JOIN z ON x.k = z.k) AS g JOIN t ON g.k = t.k",
        # no join of streams below
        "SELECT g.k FROM (SELECT DISTINCT x.k FROM x) AS g JOIN t ON g.k = t.k",
        "SELECT g.k FROM (SELECT DISTINCT x.k FROM x JOIN t AS s ON x.k = s.k) AS g JOIN t ON g.k = t.k",
    ],
)
def test_nothing_to_let_through(text: str) -> None:
    assert wanted_by(text) == []


LATER = "punctuations would wait with the rows, and results could come later than without"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        # other keys hold back what closes a group
        (f"SELECT /*+ DEMAND */ g.v FROM ({BY_TWO}) AS g JOIN y ON g.v = y.k", LATER),
        # a group above waits for punctuations
        (
            f"SELECT /*+ DEMAND */ g.k, COUNT(*) AS c FROM ({DISTINCT}) AS g JOIN y ON g.k = y.k GROUP BY g.k",
            LATER,
        ),
        # punctuations that do not hold for ever
        (f"SELECT /*+ DEMAND */ g.k FROM ({DISTINCT}) AS g JOIN passing AS p ON g.k = p.k", LATER),
        (
            f"SELECT /*+ DEMAND */ g.k FROM ({DISTINCT}) AS g JOIN silent AS s ON g.k = s.k",
            "some rows would wait for ever",
        ),
    ],
)
def test_where_a_stream_would_make_others_wait_none_is_asked_and_explain_says_so(text: str, because: str) -> None:
    assert wanted_by(text) == []
    assert {each.because for each in planned(asked(text)).unheard} == {because}
    without = planned(asked(text.replace("/*+ DEMAND */", "")))
    assert not without.unheard


def test_a_hint_that_is_followed_is_not_called_unheard() -> None:
    text = f"SELECT /*+ DEMAND */ g.k, y.n FROM ({COUNTED}) AS g JOIN y ON g.k = y.k"
    assert planned(asked(text)).unheard == ()


def test_of_a_table_nobody_waits_so_that_a_group_above_is_no_matter() -> None:
    assert wanted_by(f"SELECT g.k, COUNT(*) AS c FROM ({DISTINCT}) AS g JOIN t ON g.k = t.k GROUP BY g.k") == [
        "x ⋉ t"
    ]


def test_punctuations_that_were_forgotten_do_not_come_to_stay() -> None:
    """Between streams that a join reads as they are, punctuations on texts go; over a semi join they would not."""
    texts = "".join(
        f"CREATE STREAM {name} (id STRING, k INT, PUNCTUATED BY (id), PUNCTUATED BY (k)) USING json LOCATION 'i';"
        for name in ("i1", "i2")
    )
    below = "SELECT i1.k, i2.k AS l FROM i1 JOIN i2 ON i1.id = i2.id"
    query = bound(f"{texts} SELECT g.k FROM ({below}) AS g JOIN t ON g.k = t.k").queries[0]
    assert {kept.by for kept in judge(query.plan).kept} == {"partners"}
    assert gates(query) == ()


def test_what_another_query_reads_stays_one() -> None:
    derived = f"CREATE STREAM d AS {DISTINCT}; SELECT d.k FROM d JOIN t ON d.k = t.k"
    assert demanded(bound(derived))[1] != ()
    assert demanded(bound(f"{derived}; SELECT d.v FROM d")) == ((), (), ())


def test_two_producers_do_not_wait_for_each_other() -> None:
    other = "SELECT DISTINCT u.k FROM u JOIN y ON u.k = y.k"
    assert wanted_by(f"SELECT /*+ DEMAND */ g.k FROM ({DISTINCT}) AS g JOIN ({other}) AS h ON g.k = h.k") == [
        "x ⋉ u y"
    ]


def test_what_was_decided_is_done_again() -> None:
    pipeline = bound(f"SELECT g.k FROM ({DISTINCT}) AS g JOIN y ON g.k = y.k")
    kept = demanded(pipeline, SELECTIVE)
    assert let_through(pipeline, kept) != let_through(pipeline, demanded(pipeline))
    through = let_through(pipeline, kept)
    run = executed(through, chosen(through, SELECTIVE))
    assert semi_joins(run.queries[0].plan) == ["x ⋉ y"]


def test_a_join_of_two_relations_has_no_demand() -> None:
    with pytest.raises(CaesuraError, match="no join of three or more inputs"):
        asked("SELECT /*+ DEMAND */ x.k FROM x JOIN z ON x.k = z.k")


SAME = [
    f"SELECT /*+ DEMAND */ g.k, g.n, y.n AS m FROM ({COUNTED}) AS g JOIN y ON g.k = y.k",
    f"SELECT /*+ DEMAND */ g.k, g.v, y.n AS m FROM ({DISTINCT}) AS g JOIN y ON g.k = y.k",
    f"SELECT g.k, g.v, t.n FROM ({DISTINCT}) AS g JOIN t ON g.k = t.k AND g.v = t.n",
    f"SELECT /*+ DEMAND */ g.k, t.n, y.n AS m FROM ({COUNTED}) AS g JOIN t ON g.k = t.k JOIN y ON g.k = y.k",
]
Rows: TypeAlias = list[dict[str, int | None]]


@pytest.mark.parametrize("text", SAME)
def test_the_plan_with_demand_is_safe(text: str) -> None:
    query = asked(text)
    found = gates(query)
    assert found
    assert all(state.bounded and state.by != "synopsis" for state in judge(gated(query, found).plan).states)


@pytest.mark.parametrize("text", SAME)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_rows_are_the_same(text: str, data: st.DataObject) -> None:
    query = asked(text)
    scans = {node.alias: node for node in walk(query.plan) if isinstance(node, Scan)}
    value = st.sampled_from([0, 1, 2, None])
    given = {
        alias: data.draw(st.lists(st.fixed_dictionaries({c.name: value for c in scan.columns}), max_size=4))
        for alias, scan in scans.items()
    }
    assert bag(gated(query, gates(query)).plan, given) == bag(query.plan, given)


def bag(plan: Plan, given: dict[str, Rows]) -> Counter[tuple[int | None, ...]]:
    return Counter(tuple(row.values()) for row in rows_of(plan, given))


def rows_of(plan: Plan, given: dict[str, Rows]) -> Rows:
    """What a plan of this file gives, over the rows of its relations: it copies columns and counts."""
    match plan:
        case Scan(alias=alias):
            return given[alias]
        case Project(input=below, outputs=outputs):
            return [{each.name: row[str(each.expr.column)] for each in outputs} for row in rows_of(below, given)]
        case Distinct(input=below):
            return [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows_of(below, given))]
        case Group(input=below, keys=keys, aggregates=(one,)):
            counts = Counter(tuple((key, row[key]) for key in keys) for row in rows_of(below, given))
            return [{**dict(group), one.result.name: count} for group, count in counts.items()]
        case Join(inputs=(first, second), kind="semi"):
            others = rows_of(second, given)
            return [row for row in rows_of(first, given) if any(_meet(plan, (row, each)) for each in others)]
        case Join(inputs=several, kind="inner"):
            parts = product(*(rows_of(each, given) for each in several))
            return [dict(item for row in rows for item in row.items()) for rows in parts if _meet(plan, rows)]
        case _:
            raise AssertionError(f"no {type(plan).__name__} here")


def _meet(join: Join, rows: tuple[dict[str, int | None], ...]) -> bool:
    row = dict(item for each in rows for item in each.items())
    return all(row[each.left] is not None and row[each.left] == row[each.right] for each in join.equalities)
