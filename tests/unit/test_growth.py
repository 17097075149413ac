from __future__ import annotations

from caesura.catalog import Interval, OrderedBy, PunctuatedBy, Unique
from caesura.plan import Compare, Plan
from caesura.safety.diagnose import diagnose
from caesura.safety.states import judge
from caesura.safety.verdict import check
from caesura.types import BIGINT, STRING, Type
from tests.plans import CATEGORY, join, project, query, scan, stream


def gone(plan: Plan) -> dict[str, str | None]:
    return {f"{kept.input} {kept.scheme}": kept.by for kept in judge(plan).kept}


def cycle(type: Type, *, lifespan: str | None = None) -> Plan:
    life = None if lifespan is None else Interval(f"INTERVAL {lifespan}")
    streams = [
        scan(stream(name, "a b c", PunctuatedBy((by,), life), type=type))
        for name, by in (("s1", "b"), ("s2", "c"), ("s3", "a"))
    ]
    return join(*streams, on="s1.b = s2.b, s2.c = s3.c, s3.a = s1.a")


def test_a_partner_that_punctuates_the_same_lets_them_go() -> None:
    one, other = (stream(name, "k", Unique(("k",)), type=STRING) for name in ("r", "s"))
    both = join(scan(one), scan(other), on="r.k = s.k")
    assert gone(both) == {"r (r.k)": "partners", "s (s.k)": "partners"}


def test_neighbours_coalesce_and_texts_do_not() -> None:
    assert set(gone(cycle(BIGINT)).values()) == {"coalescing"}
    assert set(gone(cycle(STRING)).values()) == {None}
    assert set(gone(cycle(STRING, lifespan="1 DAY")).values()) == {"lifespan"}


def test_an_ordered_stream_has_one_bound() -> None:
    one, other = (stream(name, "t", OrderedBy("t")) for name in ("r", "s"))
    assert set(gone(join(scan(one), scan(other), on="r.t = s.t")).values()) == {"bound"}


def test_nothing_is_kept_for_a_table() -> None:
    assert gone(join(scan(stream("r", "id", Unique(("id",)))), scan(CATEGORY, "c"), on="r.id = c.id")) == {}


def test_sides_of_a_comparison_are_partners() -> None:
    left = project(scan(stream("r", "k", PunctuatedBy(("k",)), type=STRING)), k="r.k")
    right = project(scan(stream("s", "k", PunctuatedBy(("k",)), type=STRING)), k="s.k")
    assert gone(Compare((left, right), "except")) == {"r (k)": "partners", "s (k)": "partners"}


def test_growing_ones_are_a_warning_of_a_safe_query() -> None:
    verdict = check(query(cycle(STRING)))
    assert verdict.safe
    assert {(each.code, each.severity) for each in diagnose(verdict)} == {("CAE0108", "warning")}
