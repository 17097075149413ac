"""The operators of the model beside their meaning: what `test_model` and `test_model_mutations` check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from caesura.catalog import Column
from caesura.model.distinct import Distinct
from caesura.model.frame import Frame
from caesura.model.group import Group
from caesura.model.join import Join, hops
from caesura.model.merge import Merge
from caesura.model.operator import Band, Operator, Predicate, Row, Rows, Slice, State
from caesura.model.pair import Kind, Pair
from caesura.model.project import Part, Project
from caesura.model.rank import Rank
from caesura.model.select import Select
from caesura.model.session import Session
from caesura.model.sort import Sort
from caesura.plan import SESSION_END, SESSION_START, Aggregate, Equality, Framed, SortKey
from caesura.punctuation import Punctuation, Range
from caesura.types import BIGINT
from tests.property import meanings
from tests.property.faithful import Case, InOrder, Often
from tests.property.meanings import Binary, Condition, Results, alike
from tests.property.traces import Bounded, Domain

NULL = None
BIT = (0, 1)
BIT_OR_NULL = (0, 1, NULL)


@dataclass(frozen=True)
class Over:
    """`outer` reads what `inner` emits: one operator."""

    outer: Operator
    inner: Operator

    def initial(self) -> State:
        return self.inner.initial() + self.outer.initial()

    def split(self, state: State) -> tuple[State, State]:
        inner = len(self.inner.initial())
        return state[:inner], state[inner:]

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        """All that the inner operator does in a slice is one arrival for the outer."""
        below, above = self.split(state)
        produced, below = self.inner.step(below, new)
        released = self.inner.pass_(below)
        below = self.inner.keep(below)
        out, above = self.outer.step(above, (Slice(produced + released, self.inner.prop(below)),))
        return out, below + above

    def pass_(self, state: State) -> Rows:
        return self.outer.pass_(self.split(state)[1])

    def keep(self, state: State) -> State:
        below, above = self.split(state)
        return below + self.outer.keep(above)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return self.outer.prop(self.split(kept)[1])


def positive(row: Row) -> bool | None:
    v = row["v"]
    return v > 0 if isinstance(v, int) else None


SELECT = Case(
    Select(positive, excluded=frozenset({Punctuation.of({"v": Range(high=0)})})),
    ("k", "v"),
    meanings.select,
    (Domain({"k": BIT_OR_NULL, "v": BIT_OR_NULL}),),
    decisive=0,
)
PROJECT = Case(
    Project((("x", "k"), ("y", "k"), ("z", lambda row: row["v"] is None))),
    ("x", "y", "z"),
    meanings.project,
    (Domain({"k": BIT_OR_NULL, "v": (0, NULL)}),),
    decisive=0,
)


def shifted(row: Row) -> object:
    return row["k"] + 1 if isinstance(row["k"], int) else None


def halved(row: Row) -> object:
    return row["k"] // 2 if isinstance(row["k"], int) else None


RISING = Case(
    Project(
        (("next", shifted), ("half", halved), ("v", "v")), (("next", "k"), ("half", "k")), frozenset({"next"})
    ),
    ("next", "half", "v"),
    meanings.rising,
    (Domain({"k": (0, 1, 2, NULL), "v": (0, NULL)}),),
    decisive=0,
)
WRITTEN = Case(
    Project(
        (("text", lambda row: meanings.signed(row["k"])), ("v", "v")),
        (("text", "k"),),
        partly=(("text", Part(0, 9, "0")),),
    ),
    ("text", "v"),
    meanings.written,
    (Domain({"k": (-3, -2, 0, 1, 2, 10, NULL), "v": (0, NULL)}),),
    decisive=0,
)
DISTINCT = Case(
    Distinct(), ("k", "v"), meanings.distinct, (Domain({"k": BIT_OR_NULL, "v": BIT_OR_NULL}),), decisive=0
)


def set_operation(operator: Operator, g: Callable[..., Results], decisive: int) -> Case:
    domain = Domain({"k": BIT_OR_NULL, "v": (0, NULL)})
    return Case(operator, ("k", "v"), g, (domain, domain), decisive)


def compared(kind: Kind) -> Operator:
    """INTERSECT and EXCEPT: NULLs are the same, and a distinct is over it."""
    return Over(Distinct(), Pair((("k", "v"), ("k", "v")), (("k", "k"), ("v", "v")), kind, same=True))


def on_key(k: object, v: object, other: object, w: object) -> bool:
    return alike(k, other)


def on_more(k: object, v: object, other: object, w: object) -> bool:
    return alike(k, other) and not (v == w == 0)


def more(row: Row) -> bool:
    return not (row["v"] == row["w"] == 0)


def in_time(k: object, t: object, other: object, u: object) -> bool:
    """u BETWEEN t AND t + 1"""
    return alike(k, other) and isinstance(t, int) and isinstance(u, int) and t <= u <= t + 1


IN_TIME = (Band("u", "t", 1), Band("t", "u"))
TIMED = (Domain({"k": BIT_OR_NULL, "t": (0, 1, 2, NULL)}), Domain({"l": BIT, "u": (0, 1, 2, NULL)}))


def timed(kind: Kind, g: Callable[[Condition], Binary]) -> Case:
    operator = Pair((("k", "t"), ("l", "u")), (("k", "l"),), kind, bands=IN_TIME)
    columns = ("k", "t") if kind in ("semi", "anti") else ("k", "t", "l", "u")
    return Case(operator, columns, g(in_time), TIMED, decisive=int(kind != "semi"), patient=True)


def pair(kind: Kind, g: Callable[[Condition], Binary], residual: Predicate | None = None) -> Case:
    operator = Pair((("k", "v"), ("l", "w")), (("k", "l"),), kind, residual)
    domains = (Domain({"k": BIT_OR_NULL, "v": (0, NULL)}), Domain({"l": BIT_OR_NULL, "w": (0, NULL)}))
    columns = ("k", "v") if kind in ("semi", "anti") else ("k", "v", "l", "w")
    return Case(operator, columns, g(on_more if residual else on_key), domains, decisive=int(kind != "semi"))


def equalities(*pairs: str) -> tuple[Equality, ...]:
    return tuple(Equality(left, right) for left, right in (pair.split(" = ") for pair in pairs))


def join(
    domains: tuple[Domain, ...],
    pairs: tuple[Equality, ...],
    orders: Sequence[Sequence[Sequence[int]]],
    g: Callable[..., Results],
    residual: Predicate | None = None,
    bands: tuple[Band, ...] = (),
) -> Case:
    columns = tuple(d.names for d in domains)
    operator = Join(columns, pairs, hops(columns, pairs, orders, bands), residual, bands)
    return Case(operator, tuple(name for names in columns for name in names), g, domains, decisive=0)


EITHER_WAY = (((1,),), ((0,),))
JOIN = join(
    (Domain({"k": BIT_OR_NULL, "v": BIT}), Domain({"l": BIT_OR_NULL, "w": (0, NULL)})),
    equalities("k = l"),
    EITHER_WAY,
    meanings.inner(on_more),
    more,
)
ON_TWO = join(
    (Domain({"a": BIT_OR_NULL, "b": BIT}), Domain({"c": BIT, "d": BIT_OR_NULL, "v": (0,)})),
    equalities("a = c", "b = d"),
    EITHER_WAY,
    meanings.inner(lambda a, b, c, d, v: alike(a, c) and alike(b, d)),
)
TWO_WITH_ONE = join(
    (Domain({"a": BIT_OR_NULL, "b": BIT}), Domain({"c": BIT, "v": (0,)})),
    equalities("a = c", "c = b"),
    EITHER_WAY,
    meanings.inner(lambda a, b, c, v: alike(a, c) and alike(c, b)),
)
CROSS = join((Domain({"v": (0, NULL)}), Domain({"w": BIT})), (), EITHER_WAY, meanings.inner(lambda v, w: True))
# S1 reaches S3 through A, and then S2 through C; and so round. Or the other way.
CYCLE = join(
    (Domain({"a1": BIT_OR_NULL, "b1": BIT}), Domain({"b2": BIT, "c2": BIT}), Domain({"c3": BIT, "a3": BIT})),
    equalities("b1 = b2", "c2 = c3", "a3 = a1"),
    (((2, 1), (1, 2)), ((0, 2), (2, 0)), ((1, 0), (0, 1))),
    lambda one, two, three: [
        (a1, b1, b2, c2, c3, a3)
        for a1, b1 in one
        for b2, c2 in two
        if alike(b1, b2)
        for c3, a3 in three
        if alike(c2, c3) and alike(a3, a1)
    ],
)
# x = z is implied: the first input pins the third without the second.
CHAIN = join(
    (Domain({"x": BIT_OR_NULL}), Domain({"y": BIT, "v": (0,)}), Domain({"z": BIT})),
    equalities("x = y", "y = z"),
    (((2, 1),), ((0, 2),), ((0, 1),)),
    lambda one, two, three: [
        (x, y, v, z) for (x,) in one for y, v in two if alike(x, y) for (z,) in three if alike(y, z)
    ],
)

WINDOWED = join(TIMED, equalities("k = l"), EITHER_WAY, meanings.inner(in_time), bands=IN_TIME)

GROUPED: tuple[tuple[str, str, str | None], ...] = (
    ("rows", "COUNT", None),
    ("count", "COUNT", "v"),
    ("sum", "SUM", "v"),
    ("avg", "AVG", "v"),
    ("min", "MIN", "v"),
    ("max", "MAX", "v"),
    ("middle", "MEDIAN", "v"),
    ("values", "COUNT DISTINCT", "v"),
)
AGGREGATES = tuple(
    Aggregate(Column(name, BIGINT), function, (of,) if of else ()) for name, function, of in GROUPED
)


def group(domain: Domain) -> Case:
    """COUNT(*) is among the aggregates and v may be NULL: here the invariant of group-by is complete."""
    keys = domain.names[:-1]
    columns = (*keys, *(name for name, _, _ in GROUPED))
    return Case(Group(keys, AGGREGATES), columns, meanings.group(len(keys)), (domain,))


GAP = 2


def session(domain: Domain, *, patient: bool = False) -> Case:
    """A row as late as the end of any session may come. Where times are closed up to a bound, one punctuation
    closes a session or none does; if in pieces, several may."""
    *keys, time, _ = domain.names
    columns = (*keys, SESSION_START, SESSION_END, *(name for name, _, _ in GROUPED))
    operator = Session(time, GAP, tuple(keys), AGGREGATES)
    return Case(operator, columns, meanings.session(len(keys), GAP), (domain,), patient=patient)


TIMES = (0, 1, 3, 6, NULL)
LATER: dict[str, tuple[object, ...]] = {"t": (2, 4, 5, 7, 8, 9)}


def sort(keys: tuple[object, ...], nulls_first: bool) -> Case:
    """A row before all others of its key may still come, and one between any two keys."""
    operator = Sort((SortKey("k", nulls_first=nulls_first), SortKey("v", descending=True, nulls_first=True)))
    later: dict[str, tuple[object, ...]] = {"k": (-1, 0.5, 1.5, 3), "v": (NULL,)}
    return InOrder(operator, ("k", "v"), meanings.sort, (Domain({"k": keys, "v": BIT}, later),))


def first_by_value(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """ORDER BY v NULLS FIRST, and then w"""
    _, v, w = row
    return (v is not None, v or 0), (w is not None, w or 0)


def rank(function: str, most: int | None) -> Case:
    """A row with NULL may always come, before all others, until its partition is closed."""
    order = (SortKey("v"),)
    operator = Rank(("k",), order, (*order, SortKey("w")), function, "n", most)
    domain = Domain({"k": BIT_OR_NULL, "v": BIT, "w": BIT}, {"v": (NULL,), "w": (NULL,)})
    return Often(operator, ("k", "v", "w", "n"), meanings.rank(function, first_by_value, 1, most), (domain,))


def first_by_time(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """ORDER BY t NULLS LAST, v DESC NULLS FIRST"""
    _, t, v = row
    return (t is None, t or 0), (v is not None, -(v or 0))


def passing(function: str, most: int | None) -> Case:
    """By a bound: it waits where several punctuations join up to one."""
    first, second = SortKey("t", nulls_first=False), SortKey("v", descending=True)
    order = (first, second) if function == "ROW_NUMBER" else (first,)
    operator = Rank(("k",), order, (first, second), function, "n", most, passing=True)
    domain = Domain({"k": (0, NULL), "t": (0, 1, 2, NULL), "v": BIT}, {"t": (-1, 0.5, 1.5, 3), "v": (NULL,)})
    g = meanings.rank(function, first_by_time, len(order), most)
    return Often(operator, ("k", "t", "v", "n"), g, (domain,), patient=True)


OVER = (
    Framed(Column("pair", BIGINT), "COUNT", (), "rows", 1),
    Framed(Column("sum", BIGINT), "SUM", ("v",), "rows", 1),
    Framed(Column("lag", BIGINT), "LAG", ("v", "t"), "rows", 2),
    Framed(Column("whole", BIGINT), "COUNT", (), "range"),
    Framed(Column("max", BIGINT), "MAX", ("v",), "range"),
    Framed(Column("last", BIGINT), "LAST_VALUE", ("v",), "rows", ignore_nulls=True),
    Framed(Column("first", BIGINT), "FIRST_VALUE", ("v",), "rows"),
    Framed(Column("own", BIGINT), "LAST_VALUE", ("v",), "range", 0),
)
NEAR = (
    Framed(Column("near", BIGINT), "COUNT", (), "range", 1),
    Framed(Column("given", BIGINT), "COUNT", ("v",), "range", 1),
    Framed(Column("first", BIGINT), "FIRST_VALUE", ("v",), "range", 1),
    Framed(Column("same", BIGINT), "COUNT", (), "range", 0),
)
BETWEEN: dict[str, tuple[object, ...]] = {"t": (-1, 0.5, 1.5, 3)}
"""Between two times another may always come."""


def frame(times: tuple[object, ...], **k: tuple[object, ...]) -> Case:
    """A time that may be NULL, and then comes first, lets no row go: only the end of its partition does."""
    order = (SortKey("t"), SortKey("v", descending=True, nulls_first=False))
    operator = Frame(tuple(k), order, order, OVER, passing=NULL not in times)
    columns = (*k, "t", "v", *(each.result.name for each in OVER))
    domain = Domain({**k, "t": times, "v": (1, NULL)}, BETWEEN)
    return Case(operator, columns, meanings.frame, (domain,), patient=True)


def near(times: tuple[object, ...]) -> Case:
    operator = Frame(("k",), (SortKey("t"),), (SortKey("t"), SortKey("v")), NEAR, passing=NULL not in times)
    columns = ("k", "t", "v", *(each.result.name for each in NEAR))
    domain = Domain({"k": BIT_OR_NULL, "t": times, "v": (1, NULL)}, BETWEEN)
    return Case(operator, columns, meanings.near, (domain,), patient=True)


OPERATORS = {
    "select": SELECT,
    "project": PROJECT,
    "project of rising expressions": RISING,
    "project of texts that rise in part": WRITTEN,
    "distinct": DISTINCT,
    "merge": set_operation(Merge(2), meanings.merge, decisive=0),
    "union": set_operation(Over(Distinct(), Merge(2)), meanings.union, decisive=0),
    "intersect": set_operation(compared("semi"), meanings.intersect, decisive=0),
    "except": set_operation(compared("anti"), meanings.except_, decisive=1),
    "join": JOIN,
    "cycle": CYCLE,
    "window join": WINDOWED,
    "left join": pair("left", meanings.left),
    "right join": pair("right", meanings.right),
    "full join": pair("full", meanings.full),
    "semi join": pair("semi", meanings.semi),
    "anti join": pair("anti", meanings.anti),
    "group": group(Domain({"k": BIT_OR_NULL, "v": BIT_OR_NULL})),
    "group without keys": group(Domain({"v": BIT_OR_NULL})),
    "session": session(Bounded({"k": BIT_OR_NULL, "t": TIMES, "v": (1, NULL)}, LATER, bounded="t")),
    "sort": sort((0, 1, 2, NULL), nulls_first=False),
    "row number": rank("ROW_NUMBER", 2),
    "row number by a bound": passing("ROW_NUMBER", 2),
    "rank by a bound": passing("RANK", 3),
    "frame": frame((0, 1, 2), k=BIT_OR_NULL),
    "frame in a range": near((0, 1, 2)),
}
VARIANTS = {
    "join on two attributes": ON_TWO,
    "join of two attributes with one": TWO_WITH_ONE,
    "cross join": CROSS,
    "chain": CHAIN,
    "left join with a residual": pair("left", meanings.left, more),
    "anti join with a residual": pair("anti", meanings.anti, more),
    "left join in time": timed("left", meanings.left),
    "full join in time": timed("full", meanings.full),
    "semi join in time": timed("semi", meanings.semi),
    "anti join in time": timed("anti", meanings.anti),
    "session without keys": session(Bounded({"t": TIMES, "v": BIT_OR_NULL}, LATER, bounded="t")),
    "session of times closed in pieces": session(
        Domain({"k": BIT_OR_NULL, "t": TIMES, "v": (1, NULL)}, LATER), patient=True
    ),
    "sort by a key that is never NULL": sort((0, 1, 2), nulls_first=True),
    "first row": rank("ROW_NUMBER", 1),
    "rank": rank("RANK", 2),
    "dense rank": rank("DENSE_RANK", 1),
    "rank of all rows": rank("RANK", None),
    "first row by a bound": passing("ROW_NUMBER", 1),
    "dense rank by a bound": passing("DENSE_RANK", 2),
    "row number of all rows by a bound": passing("ROW_NUMBER", None),
    "frame without partitions": frame((0, 1, 2)),
    "frame whose time may be NULL": frame((0, 1, NULL), k=BIT_OR_NULL),
    "frame in a range whose time may be NULL": near((0, 1, NULL)),
    "group by two keys": group(Domain({"k": BIT_OR_NULL, "l": (0, NULL), "v": (1, NULL)})),
}
CASES = OPERATORS | VARIANTS
