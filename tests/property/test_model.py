"""Every operator of the model is faithful and proper, by the definitions (THEORY section 1).

A bag of results is *certain* if it is in g(input + A) for every addition A that the punctuations seen so far
allow. Safety: what is emitted is certain. Completeness: what is certain is emitted. Additions are enumerated:

- select, project, group: bags of at most two rows. One would do, two are for good measure: if each row of A by
  itself leaves the aggregates of its group alone, then so does A (for AVG each of them is the average).
- join: at most one row of each input. A result takes one row of each input, so a bigger addition adds no new
  kind of result; and g is monotone, so that the empty addition already decides what is certain.

What a join has purged wrongly shows only later. So every trace is also continued by each of its additions,
as one more slice. For n = 3 all allowed rows come at once instead: the join is linear in every input, so what
is missing with some of them is missing with all of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations_with_replacement, product
from statistics import median
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.catalog import Column
from caesura.model.distinct import Distinct
from caesura.model.group import Group
from caesura.model.join import Join, hops
from caesura.model.merge import Merge
from caesura.model.operator import Operator, Row, Rows, Slice, run
from caesura.model.pair import Kind, Pair
from caesura.model.project import Project
from caesura.model.select import Select
from caesura.plan import Aggregate, Equality
from caesura.punctuation import (
    EVERYTHING,
    Constant,
    Listed,
    Pattern,
    Punctuation,
    Range,
    Wildcard,
    set_match,
    set_nomatch_rows,
)
from caesura.types import BIGINT

Inputs: TypeAlias = Sequence[Rows]
Trace: TypeAlias = tuple[tuple[Slice, ...], ...]  # slice by slice, one of each input

NULL, BIT = None, (0, 1)


@dataclass(frozen=True, eq=False)
class Case:
    """An operator, its relational counterpart g, and the domain of each attribute of each input."""

    operator: Operator
    g: Callable[[Inputs], list[Row]]
    domains: tuple[dict[str, tuple[object, ...]], ...]
    additions: int = 2

    @cache  # noqa: B019 - the cases live as long as the tests
    def rows(self, i: int) -> list[Row]:
        """Every row over the domain."""
        names = self.domains[i]
        return [Row.of(dict(zip(names, values, strict=True))) for values in product(*names.values())]

    def allowed(self, i: int, punctuations: frozenset[Punctuation]) -> Rows:
        """The rows that may still come, without those that join nothing for a NULL in a join attribute."""
        joining = self.operator.first_of_class if isinstance(self.operator, Join) else {}
        rows = set_nomatch_rows(self.rows(i), punctuations)
        return tuple(row for row in rows if all(row[name] is not None for name in row if name in joining))

    def every_addition(self, punctuations: Sequence[frozenset[Punctuation]]) -> Iterator[Inputs]:
        def bags(i: int) -> list[Rows]:
            rows = self.allowed(i, punctuations[i])
            return [bag for n in range(self.additions + 1) for bag in combinations_with_replacement(rows, n)]

        return product(*(bags(i) for i in range(len(self.domains))))


def row(**values: object) -> Row:
    return Row.of(values)


def says(**patterns: Pattern) -> Punctuation:
    return Punctuation.of(patterns)


def arrives(*rows: Row, says: Sequence[Punctuation] = ()) -> Slice:
    return Slice(rows, frozenset(says))


def seen(trace: Trace, i: int) -> Slice:
    return reduce(Slice.__add__, (slices[i] for slices in trace), Slice())


def certain(case: Case, trace: Trace) -> Counter[Row]:
    so_far = [seen(trace, i) for i in range(len(case.domains))]
    additions = case.every_addition([s.punctuations for s in so_far])
    results = (Counter(case.g([s.rows + a for s, a in zip(so_far, added, strict=True)])) for added in additions)
    return reduce(Counter.__and__, results)


def continuations(case: Case, trace: Trace) -> Iterator[Trace]:
    """The trace, followed by one more slice in every way that its punctuations allow."""
    punctuations = [seen(trace, i).punctuations for i in range(len(case.domains))]
    if len(case.domains) < 3:
        for added in case.every_addition(punctuations):
            yield (*trace, tuple(map(Slice, added)))
    else:
        yield (*trace, tuple(Slice(case.allowed(i, ps)) for i, ps in enumerate(punctuations)))


def safe(case: Case, trace: Trace) -> bool:
    return all(emitted <= certain(case, prefix) for prefix, emitted in prefixes(case, trace))


def complete(case: Case, trace: Trace) -> bool:
    return all(certain(case, prefix) <= emitted for prefix, emitted in prefixes(case, trace))


def prefixes(case: Case, trace: Trace) -> Iterator[tuple[Trace, Counter[Row]]]:
    """Each prefix of the trace with what has been emitted by its end."""
    emitted: Counter[Row] = Counter()
    for n, output in enumerate(run(case.operator, trace), start=1):
        emitted.update(output.rows)
        yield trace[:n], emitted


def lossless(case: Case, trace: Trace) -> bool:
    """For joins: whatever comes next, the rows purged are not missed."""

    def loses(continued: Trace) -> bool:
        *_, (_, emitted) = prefixes(case, continued)
        return emitted != Counter(case.g([seen(continued, i).rows for i in range(len(case.domains))]))

    return not any(loses(continued) for continued in continuations(case, trace))


def proper(case: Case, trace: Trace) -> bool:
    """No row goes out that matches a punctuation of an earlier slice of the output."""
    for continued in continuations(case, trace):
        said: frozenset[Punctuation] = frozenset()
        for output in run(case.operator, continued):
            if any(set_match(row, said) for row in output.rows):
                return False
            said |= output.punctuations
    return True


# Three times the wildcard: otherwise few punctuations would be confined to anything.
PATTERNS: tuple[Pattern, ...] = (
    *(Wildcard(), Wildcard(), Wildcard(), Constant(0), Constant(1)),
    *(Listed(frozenset({0, 1})), Range(high=0), Range(low=1)),
)


@cache
def traces(case: Case) -> st.SearchStrategy[Trace]:
    """Of up to three slices, grammatical: rows that match an earlier punctuation are left out."""

    def stream(i: int) -> st.SearchStrategy[list[Slice]]:
        names = case.domains[i]
        every = [Punctuation.of(dict(zip(names, p, strict=True))) for p in product(PATTERNS, repeat=len(names))]
        rows = st.lists(st.sampled_from(case.rows(i)), max_size=3 if len(case.domains) < 3 else 2)
        punctuations = st.lists(st.sampled_from(every), max_size=2)
        slices = st.builds(lambda rows, ps: Slice(tuple(rows), frozenset(ps)), rows, punctuations)
        return st.lists(slices, min_size=3, max_size=3).map(grammatical)

    def cut(streams: tuple[list[Slice], ...], length: int) -> Trace:
        return tuple(zip(*streams, strict=True))[:length]

    return st.builds(cut, st.tuples(*map(stream, range(len(case.domains)))), st.integers(1, 3))


def grammatical(stream: list[Slice]) -> list[Slice]:
    said: frozenset[Punctuation] = frozenset()
    kept = []
    for slice in stream:
        kept.append(Slice(set_nomatch_rows(slice.rows, said), slice.punctuations))
        said |= slice.punctuations
    return kept


def positive(row: Row) -> bool | None:
    v = row["v"]
    return None if v is None else v == 1


def select_meaning(inputs: Inputs) -> list[Row]:
    return [row for row in inputs[0] if row["v"] == 1]


def project_meaning(inputs: Inputs) -> list[Row]:
    return [row(x=r["k"], y=r["k"], z=r["v"] is None) for r in inputs[0]]


PROJECT = Project((("x", "k"), ("y", "k"), ("z", lambda row: row["v"] is None)))


def equalities(*pairs: str) -> tuple[Equality, ...]:
    return tuple(Equality(left, right) for left, right in (pair.split(" = ") for pair in pairs))


def join_meaning(
    pairs: tuple[Equality, ...], extra: Callable[[Row], bool] = lambda row: True
) -> Callable[[Inputs], list[Row]]:
    """The product, filtered by the predicate as it is written."""

    def true_of(row: Row) -> bool:
        return all(row[e.left] is not None and row[e.left] == row[e.right] for e in pairs) and extra(row)

    return lambda inputs: [r for rows in product(*inputs) if true_of(r := reduce(Row.__or__, rows))]


def binary(
    domains: tuple[dict[str, tuple[object, ...]], ...],
    pairs: tuple[Equality, ...],
    extra: Callable[[Row], bool] | None = None,
) -> Case:
    columns = tuple(tuple(names) for names in domains)
    join = Join(columns, pairs, hops(columns, pairs, ((1,), (0,))), extra)
    return Case(join, join_meaning(pairs, extra or (lambda row: True)), domains, additions=1)


def three_way(
    columns: tuple[tuple[str, ...], ...], pairs: tuple[Equality, ...], orders: Sequence[Sequence[int]]
) -> Join:
    return Join(columns, pairs, hops(columns, pairs, orders))


def ternary(join: Join, domains: tuple[dict[str, tuple[object, ...]], ...]) -> Case:
    return Case(join, join_meaning(join.equalities), domains, additions=0)


# S1 reaches S3 through A, and then S2 through C; and so round.
CYCLE = three_way(
    (("a1", "b1"), ("b2", "c2"), ("c3", "a3")),
    equalities("b1 = b2", "c2 = c3", "a3 = a1"),
    ((2, 1), (0, 2), (1, 0)),
)
# x = z is implied: the first input pins the third without the second.
CHAIN = three_way((("x",), ("y", "v"), ("z",)), equalities("x = y", "y = z"), ((2, 1), (0, 2), (0, 1)))

GROUPED: tuple[tuple[str, str, str | None], ...] = (
    ("rows", "COUNT", None),
    ("count", "COUNT", "v"),
    ("sum", "SUM", "v"),
    ("avg", "AVG", "v"),
    ("min", "MIN", "v"),
    ("max", "MAX", "v"),
    ("values", "COUNT DISTINCT", "v"),
    ("middle", "MEDIAN", "v"),
)
AGGREGATES = tuple(
    Aggregate(Column(name, BIGINT), function, (of,) if of else ()) for name, function, of in GROUPED
)


def group_meaning(keys: tuple[str, ...]) -> Callable[[Inputs], list[Row]]:
    def result(key: tuple[object, ...], rows: list[Row]) -> Row:
        v = [r["v"] for r in rows if isinstance(r["v"], int)]
        some = (
            {"sum": sum(v), "avg": sum(v) / len(v), "min": min(v), "max": max(v), "middle": median(v)} if v else {}
        )
        nothing = dict.fromkeys(("sum", "avg", "min", "max", "middle"))
        of_rows = {"rows": len(rows), "count": len(v), "values": len(set(v))}
        return Row.of(dict(zip(keys, key, strict=True)) | of_rows | nothing | some)

    def g(inputs: Inputs) -> list[Row]:
        (rows,) = inputs
        found = {tuple(r[k] for k in keys) for r in rows} if keys else {()}
        return [result(key, [r for r in rows if tuple(r[k] for k in keys) == key]) for key in found]

    return g


def grouping(keys: tuple[str, ...], domains: dict[str, tuple[object, ...]]) -> Case:
    return Case(Group(keys, AGGREGATES), group_meaning(keys), (domains,))


def distinct_meaning(inputs: Inputs) -> list[Row]:
    return list(dict.fromkeys(inputs[0]))


def merge_meaning(inputs: Inputs) -> list[Row]:
    return [r for rows in inputs for r in rows]


def pair_meaning(pair: Pair) -> Callable[[Inputs], list[Row]]:
    """As SQL defines it, with the condition as it is written."""

    def meets(one: Row, other: Row) -> bool:
        on = [(one[a], other[b]) for a, b in pair.pairs]
        alike = all(a == b and (pair.same or a is not None) for a, b in on)
        return alike and (pair.residual is None or pair.residual(one | other) is True)

    def g(inputs: Inputs) -> list[Row]:
        left, right = inputs
        nothing = [Row.of(dict.fromkeys(names)) for names in pair.columns]
        with_partner = [one for one in left if any(meets(one, other) for other in right)]
        match pair.kind:
            case "semi":
                return with_partner
            case "anti":
                return [one for one in left if one not in with_partner]
        found = [one | other for one in left for other in right if meets(one, other)]
        if pair.kind in ("left", "full"):
            found += [one | nothing[1] for one in left if one not in with_partner]
        if pair.kind in ("right", "full"):
            found += [nothing[0] | other for other in right if not any(meets(one, other) for one in left)]
        return found

    return g


def pair(kind: Kind, extra: Callable[[Row], bool] | None = None) -> Case:
    joined = Pair((("k", "v"), ("l", "w")), (("k", "l"),), kind, extra)
    domains: tuple[dict[str, tuple[object, ...]], ...] = (
        {"k": (*BIT, NULL), "v": (0, NULL)},
        {"l": (*BIT, NULL), "w": (0, NULL)},
    )
    return Case(joined, pair_meaning(joined), domains, additions=1)


def comparison(kind: Kind) -> Case:
    """INTERSECT and EXCEPT before their distinct."""
    compared = Pair((("k", "v"), ("k", "v")), (("k", "k"), ("v", "v")), kind, same=True)
    domain: dict[str, tuple[object, ...]] = {"k": (*BIT, NULL), "v": (0, NULL)}
    return Case(compared, pair_meaning(compared), (domain, domain), additions=1)


CASES = {
    "distinct": Case(Distinct(), distinct_meaning, ({"k": (*BIT, NULL), "v": (*BIT, NULL)},)),
    "merge": Case(Merge(2), merge_meaning, ({"k": (*BIT, NULL), "v": BIT}, {"k": (*BIT, NULL), "v": BIT}), 1),
    "left join": pair("left"),
    "left join with a residual": pair("left", lambda row: (row["v"], row["w"]) != (0, 0)),
    "right join": pair("right"),
    "full join": pair("full"),
    "semi join": pair("semi"),
    "anti join": pair("anti"),
    "intersect": comparison("semi"),
    "except": comparison("anti"),
    "select": Case(Select(positive), select_meaning, ({"k": (*BIT, NULL), "v": (*BIT, NULL)},)),
    "project": Case(PROJECT, project_meaning, ({"k": (*BIT, NULL), "v": (0, NULL)},)),
    "join": binary(
        ({"k": (*BIT, NULL), "v": BIT}, {"l": (*BIT, NULL), "w": (0, NULL)}),
        equalities("k = l"),
        lambda row: (row["v"], row["w"]) != (0, 0),
    ),
    "join on two attributes": binary(
        ({"a": (*BIT, NULL), "b": BIT}, {"c": BIT, "d": (*BIT, NULL), "v": (0,)}),
        equalities("a = c", "b = d"),
    ),
    "join of two attributes with one": binary(
        ({"a": (*BIT, NULL), "b": BIT}, {"c": BIT, "v": (0,)}), equalities("a = c", "c = b")
    ),
    "cross join": binary(({"v": (0, NULL)}, {"w": BIT}), ()),
    "cycle": ternary(CYCLE, tuple({a: (*BIT, NULL), b: BIT} for a, b in CYCLE.columns)),
    "chain": ternary(CHAIN, ({"x": (*BIT, NULL)}, {"y": BIT, "v": (0,)}, {"z": BIT})),
    # COUNT(*) is among the aggregates and v may be NULL: here the invariant of group-by is complete.
    "group": grouping(("k",), {"k": (*BIT, NULL), "v": (*BIT, NULL)}),
    "group by two keys": grouping(("k", "l"), {"k": (*BIT, NULL), "l": (0, NULL), "v": (1, NULL)}),
    "group without keys": grouping((), {"v": (*BIT, NULL)}),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
few_hundred = settings(max_examples=120, deadline=None)
few = settings(max_examples=30, deadline=None)


@each_case
@few_hundred
@given(data=st.data())
def test_an_operator_is_faithful_and_proper(case: Case, data: st.DataObject) -> None:
    """One test, because drawing a trace takes longer than checking it."""
    trace = data.draw(traces(case))
    for prefix, emitted in prefixes(case, trace):
        assert emitted == certain(case, prefix)
    assert proper(case, trace)
    if isinstance(case.operator, Join):
        assert lossless(case, trace)


@each_case
@few
@given(data=st.data())
def test_the_end_of_the_inputs_empties_the_state_and_is_passed_on(case: Case, data: st.DataObject) -> None:
    end = tuple(arrives(says=[EVERYTHING]) for _ in case.domains)
    *earlier, last = run(case.operator, (*data.draw(traces(case)), end))
    assert not any(last.kept)
    assert EVERYTHING in last.punctuations.union(*(output.punctuations for output in earlier))


@each_case
@few
@given(data=st.data())
def test_a_punctuation_is_passed_on_once(case: Case, data: st.DataObject) -> None:
    passed = Counter(p for output in run(case.operator, data.draw(traces(case))) for p in output.punctuations)
    assert all(times == 1 for times in passed.values())


@pytest.mark.parametrize("name", ["join on two attributes", "join of two attributes with one", "cross join"])
@few_hundred
@given(data=st.data())
def test_a_binary_join_keeps_exactly_the_rows_that_may_still_find_a_partner(
    name: str, data: st.DataObject
) -> None:
    case = CASES[name]
    trace = data.draw(traces(case))
    *_, last = run(case.operator, trace)
    for mine, theirs in ((0, 1), (1, 0)):
        held = [row for row in seen(trace, mine).rows if row in last.kept[mine]]
        assert Counter(held) == Counter(last.kept[mine])
        # A partner that says nothing on the other attributes is ruled out by confined punctuations only.
        partners = [dict.fromkeys(case.domains[theirs]) | dict(row) for row in keys(case, theirs)]
        coming = set_nomatch_rows(map(Row.of, partners), seen(trace, theirs).punctuations)
        for row in set(seen(trace, mine).rows):
            awaited = any(case.g([(row,), (u,)] if mine == 0 else [(u,), (row,)]) for u in coming)
            assert (row in last.kept[mine]) == awaited


def keys(case: Case, i: int) -> list[Row]:
    """Every value of the join attributes of an input; its other attributes are left out."""
    assert isinstance(case.operator, Join)
    joining = [name for name in case.domains[i] if name in case.operator.first_of_class]
    return [row(**dict(zip(joining, values, strict=True))) for values in product(BIT, repeat=len(joining))]


def test_the_cycle_purges_a_row_only_along_the_whole_chain() -> None:
    """S1(A, B), S2(B, C), S3(C, A): a row of S1 goes when S3 has closed its A, and S2 the C of all it met."""
    first = (arrives(row(a1=1, b1=5)), arrives(), arrives(row(c3=7, a3=1)))
    closes_a = (arrives(), arrives(), arrives(says=[says(a3=Constant(1))]))
    closes_c = (arrives(), arrives(says=[says(c2=Constant(7))]), arrives())
    outputs = list(run(CYCLE, (first, closes_a, closes_c)))
    assert [len(output.kept[0]) for output in outputs] == [1, 1, 0]
    assert outputs[0].kept[2] == (row(c3=7, a3=1),)


def test_a_passed_punctuation_is_also_written_with_the_first_of_equal_attributes() -> None:
    case = CASES["join"]
    p = says(l=Constant(1), w=Constant(0))
    (output,) = run(case.operator, ((arrives(), arrives(says=[p])),))
    assert output.punctuations == {p, says(k=Constant(1), w=Constant(0))}


def test_a_join_waits_with_a_punctuation_until_its_rows_are_gone() -> None:
    waiting = (arrives(row(k=1, v=0), says=[says(k=Constant(1))]), arrives())
    released = (arrives(), arrives(says=[says(l=Constant(1))]))
    before, after = run(CASES["join"].operator, (waiting, released))
    assert before.punctuations == frozenset()
    assert after.punctuations == {says(k=Constant(1)), says(l=Constant(1))}
    assert after.kept == ((), ())


def test_a_row_without_a_key_is_not_state_of_a_join() -> None:
    (output,) = run(CASES["join"].operator, ((arrives(row(k=NULL, v=1)), arrives()),))
    assert output.kept == ((), ())


def test_a_group_of_null_is_closed_by_a_wildcard_only() -> None:
    both = arrives(row(k=NULL, v=1), row(k=1, v=1), says=[says(k=Range(low=0)), says(k=Range(high=0))])
    output, end = run(CASES["group"].operator, ((both,), (arrives(says=[EVERYTHING]),)))
    assert [r["k"] for r in output.rows] == [1]
    assert [r["k"] for r in end.rows] == [NULL]


def test_an_aggregate_over_nothing_is_one_row() -> None:
    (output,) = run(CASES["group without keys"].operator, ((arrives(says=[EVERYTHING]),),))
    nothing = dict.fromkeys(("sum", "avg", "min", "max", "middle"))
    assert output.rows == (row(rows=0, count=0, values=0, **nothing),)
    assert output.kept == ((),)


def test_the_invariant_of_group_by_is_weaker_than_completeness_when_only_nulls_may_come() -> None:
    """SUM(v) of k = 1 can no longer change, but no single punctuation says so: the invariant waits."""
    total = Aggregate(Column("sum", BIGINT), "SUM", ("v",))
    closed = [says(k=Constant(1), v=Range(high=0)), says(k=Constant(1), v=Range(low=0))]
    (output,) = run(Group(("k",), (total,)), ((arrives(row(k=1, v=1), says=closed),),))
    assert output.rows == ()
