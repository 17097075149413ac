from __future__ import annotations

from dataclasses import replace

from caesura.catalog import Interval, OrderedBy, Promise, PunctuatedBy, Unique
from caesura.plan import Compare, Join, Plan
from caesura.safety.diagnose import diagnose
from caesura.safety.states import judge
from caesura.safety.verdict import check
from caesura.types import BIGINT, STRING, Type
from tests.plans import CATEGORY, group, join, project, query, scan, stream


def gone(plan: Plan) -> dict[str, str | None]:
    return {f"{kept.input} {kept.scheme}": kept.by for kept in judge(plan).kept}


def cycle(type: Type, *, lifespan: str | None = None) -> Plan:
    life = None if lifespan is None else Interval(f"INTERVAL {lifespan}")
    streams = [
        scan(stream(name, "a b c", PunctuatedBy((by,), life), type=type))
        for name, by in (("s1", "b"), ("s2", "c"), ("s3", "a"))
    ]
    return join(*streams, on="s1.b = s2.b, s2.c = s3.c, s3.a = s1.a")


def texts(*promises: Promise) -> Join:
    """A join on k of two streams of texts; the first makes these promises, the other that k is unique."""
    one = stream("r", "k v", *promises, type=STRING)
    return join(scan(one), scan(stream("s", "k", Unique(("k",)), type=STRING)), on="r.k = s.k")


def test_a_partner_that_punctuates_the_same_lets_them_go() -> None:
    assert gone(texts(Unique(("k",)))) == {"r (r.k)": "partners", "s (s.k)": "partners"}


def test_neighbours_coalesce_and_texts_do_not() -> None:
    assert set(gone(cycle(BIGINT)).values()) == {"coalescing"}
    assert set(gone(cycle(STRING)).values()) == {None}
    assert set(gone(cycle(STRING, lifespan="1 DAY")).values()) == {"lifespan"}


def test_an_ordered_stream_has_one_bound() -> None:
    one, other = (stream(name, "t", OrderedBy("t")) for name in ("r", "s"))
    assert set(gone(join(scan(one), scan(other), on="r.t = s.t")).values()) == {"bound"}


def test_nothing_is_kept_for_a_table() -> None:
    assert gone(join(scan(stream("r", "id", Unique(("id",)))), scan(CATEGORY, "c"), on="r.id = c.id")) == {}


def sides(type: Type) -> tuple[Plan, Plan]:
    left = project(scan(stream("r", "k", PunctuatedBy(("k",)), type=type)), k="r.k")
    return left, project(scan(stream("s", "k", PunctuatedBy(("k",)), type=type)), k="s.k")


def test_sides_of_a_comparison_do_not_forget() -> None:
    assert gone(Compare(sides(BIGINT), "except")) == {"r (k)": "coalescing", "s (k)": "coalescing"}
    assert gone(Compare(sides(STRING), "except")) == {"r (k)": None, "s (k)": None}


def test_partners_are_streams_that_the_join_reads_as_they_are() -> None:
    left, _ = sides(STRING)
    assert set(gone(join(left, scan(stream("t", "k", Unique(("k",)), type=STRING)), on="k = t.k")).values()) == {
        None
    }
    assert set(gone(replace(texts(Unique(("k",))), kind="left")).values()) == {None}


def test_a_stream_that_something_else_reads_too_remembers() -> None:
    both = texts(Unique(("k",)))
    one, _ = both.inputs
    kept = {each.input: each.by for each in judge(both, beside=(group(one, "r.k"),)).kept}
    assert kept == {"r": None, "s": None}
    assert {each.by for each in judge(both, beside=(both,)).kept} == {"partners"}
    assert {each.by for each in judge(both, beside=(scan(stream("t", "k")),)).kept} == {"partners"}


def test_what_could_come_again_after_it_was_forgotten_is_remembered() -> None:
    """A punctuation in band for a key that its row has closed already, or for a part of it."""
    for more in (PunctuatedBy(("k",)), PunctuatedBy(("k", "v")), Unique(("k",), Interval("INTERVAL 1 DAY"))):
        assert gone(texts(Unique(("k",)), more))["r (r.k)"] is None
    assert gone(texts(Unique(("k",)), PunctuatedBy(("v",)))) == {"r (r.k)": "partners", "s (s.k)": "partners"}


def test_several_attributes_do_not_coalesce_and_need_all_partners() -> None:
    one, other = (stream(name, "a b", PunctuatedBy(("a", "b"))) for name in ("r", "s"))
    both = join(scan(one), scan(other), on="r.a = s.a, r.b = s.b")
    assert gone(both) == {"r (r.a, r.b)": "partners", "s (s.a, s.b)": "partners"}
    single = stream("s", "a b", PunctuatedBy(("a",)))
    both = join(scan(one), scan(single), on="r.a = s.a, r.b = s.b")
    assert gone(both) == {"r (r.a, r.b)": "partners", "s (s.a)": "coalescing"}


def test_growing_ones_are_a_warning_of_a_safe_query() -> None:
    verdict = check(query(cycle(STRING)))
    assert verdict.safe
    assert {(each.code, each.severity) for each in diagnose(verdict)} == {("CAE0108", "warning")}
