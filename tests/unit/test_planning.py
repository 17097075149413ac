"""Join plans: the trees that are safe, what they cost, which is chosen, and hints."""

from __future__ import annotations

from itertools import pairwise
from math import exp, isfinite
from random import Random

import pytest

from caesura.catalog import OrderedBy, PunctuatedBy, Traffic
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.explain.describe import describe
from caesura.plan import Join, Pipeline, Plan, Query, Scan, Tree, walk
from caesura.planning.choose import RUNNERS_UP, choose, chosen, executed, planned
from caesura.planning.cost import CostModel, predicted_state
from caesura.planning.enumerate import EXHAUSTIVE, LEFT_DEEP, SafeTrees
from caesura.planning.statistics import Statistics
from caesura.safety.diagnose import diagnose
from caesura.safety.states import judge
from caesura.safety.tree import Arrangement, arranged
from caesura.safety.verdict import check
from caesura.sql.bind import bind
from tests.plans import join, query, scan, stream, table, where


def punctuated(name: str, columns: str, *keys: str) -> Scan:
    return scan(stream(name, columns, *(PunctuatedBy((key,)) for key in keys)))


CYCLE = join(
    punctuated("s1", "a b", "b"),
    punctuated("s2", "b c", "c"),
    punctuated("s3", "c a", "a"),
    on="s1.b = s2.b, s2.c = s3.c, s3.a = s1.a",
)
CHAIN = join(
    punctuated("s1", "a", "a"),
    punctuated("s2", "a b", "a", "b"),
    punctuated("s3", "b", "b"),
    on="s1.a = s2.a, s2.b = s3.b",
)
STAR = join(
    punctuated("fact", "a b c", "a", "b", "c"),
    punctuated("s1", "a", "a"),
    punctuated("s2", "b", "b"),
    punctuated("s3", "c", "c"),
    on="fact.a = s1.a, fact.b = s2.b, fact.c = s3.c",
)


def clique(inputs: int) -> Join:
    scans = [punctuated(f"s{i}", "k", "k") for i in range(inputs)]
    return join(*scans, on=", ".join(f"s{i}.k = s{j}.k" for i, j in pairwise(range(inputs))))


def trees(join: Join) -> set[Tree]:
    return set(SafeTrees(join).trees())


def safe(plan: Plan) -> bool:
    return all(state.bounded for state in judge(plan).states)


def bound(text: str) -> Pipeline:
    return bind(Source("test.sql", text))


# Trees


def test_the_cycle_of_the_paper_has_one_safe_plan() -> None:
    assert trees(CYCLE) == {(0, 1, 2)}
    choice = choose(CYCLE)
    assert (choice.how, choice.runners_up, choice.because) == (None, (), "no other tree is safe")


def test_a_chain_is_safe_from_either_end() -> None:
    assert trees(CHAIN) == {(0, 1, 2), ((0, 1), 2), (0, (1, 2))}


def test_of_a_star_no_two_points_are_joined_without_the_middle() -> None:
    found = trees(STAR)
    assert (((0, 1), 2), 3) in found
    assert (((0, 3), 1), 2) in found
    assert ((0, 1), (2, 3)) not in found


def test_what_is_equal_by_way_of_another_input_is_compared() -> None:
    plan = arranged(clique(3), ((0, 2), 1))
    assert describe(plan).splitlines() == [
        "project `s0.k`, `s1.k`, `s2.k`",
        "  join on `s0.k` = `s1.k`, `s1.k` = `s2.k`",
        "    join on `s0.k` = `s2.k`",
        "      scan stream s0 as s0",
        "      scan stream s2 as s2",
        "    scan stream s1 as s1",
    ]


def test_columns_of_one_input_that_others_make_equal_are_equal_in_every_tree() -> None:
    middle = punctuated("s1", "a b", "a", "b")
    plain = join(
        punctuated("s0", "k", "k"), middle, punctuated("s2", "k", "k"), on="s0.k = s1.a, s0.k = s1.b, s1.b = s2.k"
    )
    plan = arranged(plain, ((1, 2), 0))
    below = next(node for node in walk(plan) if isinstance(node, Join))
    assert {(each.left, each.right) for each in below.equalities} == {("s1.b", "s2.k"), ("s1.a", "s2.k")}


def test_every_condition_goes_to_the_lowest_join_that_has_its_columns() -> None:
    plain = join(*CHAIN.inputs, on="s1.a = s2.a, s2.b = s3.b", residual="s1.a < s2.b AND s1.a < s3.b")
    plan = arranged(plain, ((0, 1), 2))
    assert [node.residual and node.residual.sql for node in walk(plan) if isinstance(node, Join)] == [
        "`s1.a` < `s2.b`",
        "`s1.a` < `s3.b`",
    ]


def test_a_table_is_joined_anywhere() -> None:
    plain = join(*CHAIN.inputs, scan(table("t", "b")), on="s1.a = s2.a, s2.b = s3.b, s3.b = t.b")
    assert {((0, 1), (2, 3)), ((0, (1, 3)), 2), (0, 1, 2, 3)} <= trees(plain)


def test_a_cross_product_is_made_only_of_whole_parts() -> None:
    fixed = where(punctuated("s4", "x y", "x"), "s4.x = 1")
    plain = join(*CHAIN.inputs, fixed, on="s1.a = s2.a, s2.b = s3.b")
    known = table("t", "z")
    crossed = join(*CHAIN.inputs, scan(known), on="s1.a = s2.a, s2.b = s3.b")
    assert trees(plain) == set()  # nothing closes the chain for a row of s4
    assert trees(crossed) == {(0, 1, 2, 3), *((tree, 3) for tree in trees(CHAIN))} | {
        (0, 1, 2, 3),
        ((0, 1), 2, 3),
        (0, (1, 2), 3),
    }


def test_columns_keep_their_order() -> None:
    for tree in trees(STAR):
        assert arranged(STAR, tree).columns == STAR.columns


def test_eight_inputs_are_searched_exhaustively() -> None:
    assert sum(1 for _ in SafeTrees(clique(5)).trees()) == 236
    assert len(SafeTrees(clique(6)).splits) == 2**6 - 6 - 1


def test_beyond_that_there_is_one_left_deep_tree() -> None:
    wide = clique(EXHAUSTIVE + 1)
    choice = choose(wide)
    (left_deep,) = choice.runners_up
    assert safe(arranged(wide, left_deep.how.tree))
    assert str(left_deep.how.tree).count("(") == EXHAUSTIVE
    assert choice.because is None


def test_beyond_the_next_limit_there_is_the_single_join() -> None:
    choice = choose(clique(LEFT_DEEP + 1))
    assert (choice.runners_up, choice.because) == ((), f"trees are looked for up to {LEFT_DEEP} inputs")


# Costs


def test_without_statistics_the_single_join_wins() -> None:
    choice = choose(CHAIN)
    assert choice.chosen is not None
    assert (choice.chosen.how.tree, choice.least) == ((0, 1, 2), "stored")
    assert choice.chosen.cost.intermediates == 0


def test_with_rates_a_selective_join_goes_first() -> None:
    measured = Statistics(
        {
            "s1": Traffic(10, (("a", 20),)),
            "s2": Traffic(1000, (("a", 5000),)),
            "s3": Traffic(900, (("b", 50_000),)),
        }
    )
    choice = choose(CHAIN, measured)
    assert choice.how == Arrangement(((0, 1), 2))
    assert choice.least == "touched"


@pytest.mark.parametrize(("rate", "values"), [(1e-9, 1e-9), (1e-9, 1e15), (1e15, 1e-9), (1e15, 1e15)])
def test_the_ends_of_what_a_figure_can_be_still_give_a_price(rate: float, values: float) -> None:
    assert Traffic.figure(rate)
    assert Traffic.figure(values)
    known = Statistics({f"s{i}": Traffic(rate, (("k", values),)) for i in range(9)})
    choice = choose(clique(9), known)
    assert choice.chosen is not None
    assert isfinite(choice.chosen.price)


def test_a_stream_that_meets_only_tables_is_not_kept() -> None:
    model = CostModel(SafeTrees(join(scan(stream("s", "a")), scan(table("t", "a")), on="s.a = t.a")), Statistics())
    assert model.cost((0, 1)).state == ((0, 0.0),)


def test_a_window_keeps_what_comes_within_it_and_the_slack() -> None:
    source = """
    CREATE STREAM a (k INT, at TIMESTAMP, ORDERED BY (at WITHIN INTERVAL 5 SECONDS)) USING json LOCATION 'a'
    OPTIONS (rate 10);
    CREATE STREAM b (k INT, at TIMESTAMP, ORDERED BY (at)) USING json LOCATION 'b' OPTIONS (rate 100);
    SELECT a.k FROM a [RANGE INTERVAL 1 MINUTE] AS a JOIN b [RANGE INTERVAL 20 SECONDS] AS b ON a.k = b.k;
    """
    (found,) = (node for node in walk(bound(source).queries[0].plan) if isinstance(node, Join))
    model = CostModel(SafeTrees(found), Statistics().of(found))
    assert model.cost((0, 1)).state == ((0, 10 * 60.0), (1, 100 * 25.0))


def test_where_a_window_and_punctuations_meet_the_sooner_wins() -> None:
    def rows(*promises: PunctuatedBy | OrderedBy) -> float:
        other = scan(stream("b", "k t", *promises))
        plain = join(punctuated("a", "k t", "k"), other, on="a.k = b.k", residual="b.t <= a.t + 30000")
        model = CostModel(SafeTrees(plain), Statistics({"b": Traffic(1000, (("k", 10_000),))}))
        return dict(model.cost((0, 1)).state)[0]

    assert rows(PunctuatedBy(("k",))) == 10_000
    assert rows(OrderedBy("t")) == 30_000
    assert rows(PunctuatedBy(("k",)), OrderedBy("t")) == pytest.approx(10_000 * (1 - exp(-3)))


@pytest.mark.parametrize("window", [5.0, 10.0, 20.0, 40.0])
def test_the_predicted_state_is_what_a_simulation_finds(window: float) -> None:
    """A closes one value after another, any of those that are open, and each makes room for a new one."""
    random, rate, closing, time = Random(5), 200, 10, 200
    values = [*range(200)]
    arrived: list[tuple[float, int]] = []
    for second in range(time):
        for i in range(rate):
            if i % (rate // closing) == 0:
                values[random.randrange(len(values))] = len(values) + second * rate + i
            arrived.append((second + i / rate, random.choice(values)))
    still = set(values)
    kept = sum(at > time - window and value in still for at, value in arrived)
    assert predicted_state(rate, window, closing, len(values)) == pytest.approx(kept, rel=0.1)


@pytest.mark.parametrize("window", [5.0, 20.0, 40.0])
@pytest.mark.parametrize("time", [60.0, 100.0])
def test_values_that_are_not_renewed(window: float, time: float) -> None:
    """The streams of PWJoin's experiments: of 400 values three are closed per second, and never come again."""
    random, rate, closing, keys = Random(7), 200, 3.0, 400
    arrived = [(i / rate, random.randrange(int(i / rate * closing), keys)) for i in range(int(rate * time))]
    kept = sum(at > time - window and key >= closing * time for at, key in arrived)
    left = keys - closing * time
    assert predicted_state(rate, window, closing, left) == pytest.approx(kept, rel=0.2)


@pytest.mark.parametrize("window", [2.0, 5.0, 15.0])
def test_the_state_of_a_window_join_by_what_is_known_of_its_streams(window: float) -> None:
    """Both close 50 of 1000 open values per second, far fewer than there are rows; one is closed after 20 s."""
    text = "".join(
        f"CREATE STREAM {name} (k BIGINT, t TIMESTAMP, PUNCTUATED BY (k), ORDERED BY (t))"
        f" USING json LOCATION '{name}' OPTIONS (rate 500, distinct 'k 1000', closes 'k 50');"
        for name in "ab"
    )
    sliding = f"[RANGE INTERVAL {window} SECONDS]"
    [query] = bind(Source("q", f"{text} SELECT a.k FROM a {sliding} JOIN b {sliding} ON a.k = b.k;")).queries
    [found] = (node for node in walk(query.plan) if isinstance(node, Join))
    model = CostModel(SafeTrees(found), Statistics().of(query.plan))
    kept = 500 * 20 * (1 - exp(-window / 20))
    assert dict(model.cost((0, 1)).state) == pytest.approx({0: kept, 1: kept})


def test_a_state_without_punctuations_is_its_window() -> None:
    assert predicted_state(100, 20, 0, 50) == 2000
    assert predicted_state(100, 20, 10, 0) == 0
    assert predicted_state(100, 0, 10, 50) == 0


def test_what_was_measured_goes_before_what_is_declared() -> None:
    text = "CREATE STREAM s (a INT, b INT) USING json LOCATION 's' OPTIONS (rate 5, distinct 'a 6, b 7');"
    (query,) = bound(f"{text} SELECT a FROM s").queries
    found = Statistics({"s": Traffic(9, (("a", 8),)), "other": Traffic(1)}).of(query.plan)
    assert (found.rate("s"), found.distinct("s", "a"), found.distinct("s", "b")) == (9, 8, 7)
    assert set(found.streams) == {"s"}
    assert not found.made_up
    assert Statistics().of(CHAIN).made_up


# Choices


def test_runners_up_are_shown_in_the_order_of_their_price() -> None:
    choice = choose(STAR)
    assert choice.chosen is not None
    prices = [choice.chosen.price, *(each.price for each in choice.runners_up)]
    assert len(prices) == RUNNERS_UP + 1
    assert prices == sorted(prices)


def test_a_query_that_is_not_safe_stays_as_it_is() -> None:
    unsafe = join(*CYCLE.inputs[:2], punctuated("s3", "c a"), on="s1.b = s2.b, s2.c = s3.c, s3.a = s1.a")
    found = planned(query(unsafe))
    assert found.plan == unsafe
    assert [choice.because for choice in found.choices] == ["some rows of it never leave"]


SHARED = """
CREATE STREAM s1 (a BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's1' OPTIONS (rate 10, distinct 'a 20');
CREATE STREAM s2 (a BIGINT, b BIGINT, PUNCTUATED BY (a), PUNCTUATED BY (b)) USING json LOCATION 's2'
OPTIONS (rate 1000, distinct 'a 5000');
CREATE STREAM s3 (b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's3' OPTIONS (rate 900, distinct 'b 50000');
CREATE STREAM s4 (b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's4';
CREATE STREAM derived AS SELECT s2.a, s2.b FROM s1 JOIN s2 ON s1.a = s2.a JOIN s3 ON s2.b = s3.b;
SELECT a FROM derived;
SELECT d.a FROM derived AS d JOIN s4 ON d.b = s4.b;
"""


def test_a_derived_stream_that_two_queries_read_stays_one() -> None:
    pipeline = executed(bound(SHARED), chosen(bound(SHARED)))
    (derived, *_) = (each.plan for each in pipeline.queries)
    assert sum(isinstance(node, Join) for node in walk(derived)) == 2
    assert all(derived in set(walk(each.plan)) for each in pipeline.queries)
    assert all(safe(each.plan) for each in pipeline.queries)


def test_what_is_chosen_is_not_chosen_again() -> None:
    once = executed(bound(SHARED), chosen(bound(SHARED)))
    assert executed(once, chosen(once)) == once


# Hints

DECLARED = """
CREATE STREAM s1 (a BIGINT, b BIGINT, PUNCTUATED BY (a), PUNCTUATED BY (b)) USING json LOCATION 's1';
CREATE STREAM s2 (b BIGINT, c BIGINT, PUNCTUATED BY (b), PUNCTUATED BY (c)) USING json LOCATION 's2';
CREATE STREAM s3 (c BIGINT, d BIGINT, PUNCTUATED BY (c), PUNCTUATED BY (d)) USING json LOCATION 's3';
CREATE STREAM s4 (d BIGINT, PUNCTUATED BY (d)) USING json LOCATION 's4';
"""


def asked(sql: str) -> Query:
    return bound(DECLARED + sql).queries[0]


def shapes(plan: Plan) -> list[Tree | None]:
    return [node.shape for node in walk(plan) if isinstance(node, Join)]


@pytest.mark.parametrize(
    ("hint", "shape"),
    [
        ("MJOIN", (0, 1, 2)),
        ("TREE((s1, s2), s3)", ((0, 1), 2)),
        ("tree(S3, (s2, s1))", (2, (1, 0))),
        ("TREE(s1, s2, s3)", (0, 1, 2)),
    ],
)
def test_a_hint_is_part_of_the_join(hint: str, shape: Tree) -> None:
    text = f"SELECT /*+ {hint} */ s1.a FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c"
    found = asked(text)
    assert shapes(found.plan) == [shape]
    assert check(found).safe
    assert found.plan != asked(text.replace(f"/*+ {hint} */", "")).plan


def test_a_tree_that_is_asked_for_is_what_is_executed() -> None:
    found = asked("SELECT /*+ TREE(s1, (s2, s3)) */ s1.a FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c")
    made = planned(found)
    assert made.plan == check(found).query.plan
    assert [choice.because for choice in made.choices] == ["a hint asks for it"]
    assert [len(node.inputs) for node in walk(made.plan) if isinstance(node, Join)] == [2, 2]


def test_the_join_below_an_outer_one_takes_a_hint() -> None:
    found = asked(
        "SELECT /*+ TREE((s1, s2), s3) */ s1.a FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c"
        " LEFT JOIN s4 ON s3.d = s4.d"
    )
    assert shapes(found.plan) == [((0, 1), 2), None]


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("TREE((s1, s2), x)", "FROM has no input `x`"),
        ("TREE(s1, s2)", "TREE leaves out `s3`"),
        ("TREE((s1, s2), s1)", "`s1` is named twice"),
        ("TREE((s1, s2), s4)", "`s4` is one input with `s1`"),
        ("TREE(s1)", "TREE takes the inputs that are joined, at least two"),
        ("TREE", "TREE takes the inputs that are joined, at least two"),
        ("TREE(s1, s2 + 1)", "TREE takes aliases and lists of them in parentheses"),
        ("MJOIN(s1)", "MJOIN takes no inputs"),
        ("MJOIN, TREE(s1, s2, s3)", "a SELECT takes one hint about its joins, and one about demand"),
        ("DEMAND, NO_DEMAND", "a SELECT takes one hint about its joins, and one about demand"),
        ("DEMAND(s1)", "DEMAND takes no inputs"),
    ],
)
def test_a_hint_that_does_not_fit_is_refused(hint: str, message: str) -> None:
    with pytest.raises(CaesuraError) as error:
        asked(
            f"SELECT /*+ {hint} */ s1.a FROM s1 LEFT JOIN s4 ON s1.a = s4.d"
            " JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c"
        )
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == (Code.HINT_INPUTS, message)
    assert diagnostic.labels[0].span.text == f"/*+ {hint} */"


def test_an_alias_of_one_letter_is_not_named_twice_either() -> None:
    with pytest.raises(CaesuraError, match="`a` is named twice"):
        asked("SELECT /*+ TREE((a, b), a) */ a.a FROM s1 AS a JOIN s2 AS b ON a.b = b.b")


def test_a_hint_needs_a_join() -> None:
    with pytest.raises(CaesuraError, match="no inner join"):
        asked("SELECT /*+ MJOIN */ a FROM s1")


def test_a_hint_of_a_subquery_is_its_own() -> None:
    inner = "SELECT /*+ MJOIN */ s1.a, s2.c FROM s1 JOIN s2 ON s1.b = s2.b"
    found = asked(f"SELECT x.a FROM ({inner}) AS x JOIN s3 ON x.c = s3.c JOIN s4 ON s3.d = s4.d")
    assert shapes(found.plan) == [(0, 1), None]


def test_an_unsafe_tree_is_refused_with_the_state_that_would_grow() -> None:
    text = """
    CREATE STREAM s1 (a INT, b INT, PUNCTUATED BY (b)) USING json LOCATION 's1';
    CREATE STREAM s2 (b INT, c INT, PUNCTUATED BY (c)) USING json LOCATION 's2';
    CREATE STREAM s3 (c INT, a INT, PUNCTUATED BY (a)) USING json LOCATION 's3';
    SELECT /*+ TREE(s1, (s2, s3)) */ s1.a FROM s1 JOIN s2 ON s1.b = s2.b JOIN s3 ON s2.c = s3.c AND s3.a = s1.a;
    """
    verdict = check(bound(text).queries[0])
    (diagnostic,) = diagnose(verdict)
    assert not verdict.safe
    assert diagnostic.code == Code.UNSAFE_TREE
    assert diagnostic.message == "the join state of `s2` grows without bound in the tree that TREE asks for"
    assert diagnostic.help == ("leave TREE out: as one join of all inputs the query is safe",)
