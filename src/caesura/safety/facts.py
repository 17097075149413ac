"""What comparisons hold in every row of a plan, by its filters, joins, CHECKs, types and tables.

A NULL compares with nothing. Where a filter compares columns it keeps NULLs away; a CHECK does not, so that one
between two columns counts only where neither can be NULL. A column that nothing else bounds may be NULL besides
its few values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import exp

from caesura.catalog import Stream
from caesura.plan import (
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    types_of,
)
from caesura.safety.comparisons import (
    ZERO,
    Closure,
    Comparison,
    Constant,
    Element,
    Few,
    Hidden,
    Interval,
    closure,
    equal,
    within,
)
from caesura.safety.equality import family, fixes
from caesura.safety.presence import present
from caesura.safety.said import Facts, discrete, limits, number, stated, total


@dataclass(frozen=True)
class Domain:
    """Why a column has finitely many values, as a clause, and how many at the most, if that can be told."""

    why: str
    size: int | None = None


@lru_cache(maxsize=4096)
def facts(plan: Plan) -> Facts:
    """What holds in every row that the plan emits."""
    match plan:
        case Scan():
            return _scanned(plan)
        case Filter(input=below, predicate=predicate):
            return facts(below) + stated(predicate, types_of(below))
        case Project():
            return _projected(plan)
        case Join(kind="inner"):
            return matching(plan)
        case Join(kind="semi"):
            return _renamed(matching(plan), {c.name: (c.name,) for c in plan.columns}, plan.columns[0].name)
        case Join(kind="anti", inputs=(below, _)):
            return facts(below)
        case Join(inputs=several):  # what is said of one input's columns holds, or all of them are NULL
            known = (facts(each) for each in several)
            return total(each for i, each in enumerate(known) if i not in plan.padded or _satisfiable(each))
        case Group(input=below, keys=()):  # a row comes out where none goes in
            return _typed(plan)
        case Group(input=below, keys=keys) | Session(input=below, keys=keys):
            return _renamed(facts(below), {key: (key,) for key in keys}, plan.columns[0].name) + _typed(plan)
        case Distinct(input=below) | Sort(input=below):
            return facts(below)
        case Rank(input=below):
            return facts(below) + _numbers(plan)
        case Frame(input=below):
            return facts(below) + _typed(plan)
        case Compare(inputs=(below, other), kind="intersect"):
            own: dict[Element, tuple[str, ...]] = {c.name: (c.name,) for c in plan.columns}
            return _renamed(facts(below), own, "one") + _renamed(facts(other), own, "the other")
        case Compare(inputs=(below, _)):
            return facts(below)
        case Merge():
            return _merged(plan)


def _satisfiable(known: Facts) -> bool:
    return closure(known.comparisons).satisfiable


def matching(join: Join) -> Facts:
    """What holds where a row of every input meets the others."""
    types = types_of(*join.inputs)
    joined = (
        c
        for e in join.equalities
        if family(types[e.left]) == family(types[e.right])
        for c in equal(e.left, e.right, said=f"{e.left} = {e.right}")
    )
    said = stated(join.residual, types) if join.residual is not None else Facts()
    return total(facts(each) for each in join.inputs) + Facts(tuple(joined)) + said


@lru_cache(maxsize=4096)
def closed(plan: Plan) -> Closure:
    """P⁺ of the rows that the plan emits."""
    known = facts(plan)
    return closure(known.comparisons, known.few)


def domain(plan: Plan, column: str) -> Domain | None:
    """Why a column of a plan has finitely many values; None if nothing says so."""
    known = closed(plan)
    if not known.satisfiable:
        return Domain("no row satisfies the conditions", 0)
    size = known.size(column)
    few = known.few_of(column)
    if few is not None:
        return Domain(few.why, size)
    if column not in known.elements:
        return None
    below, above = known.ends(column)
    if below is None or above is None:
        return None
    return Domain(" and ".join(dict.fromkeys(each.said for each in (*below, *above) if each.said)), size)


def _scanned(scan: Scan) -> Facts:
    names = {column.name: f"{scan.alias}.{column.name}" for column in scan.relation.columns}
    if not isinstance(scan.relation, Stream):
        return Facts(few=tuple(Few(name, f"`{scan.relation.name}` is finite") for name in names.values()))
    types = {column.name: column.type for column in scan.relation.columns}
    said = total(stated(check.condition, types) for check in scan.relation.checks)
    there = {name for name, full in names.items() if present(scan, full)}
    holding = tuple(
        each
        for each in said.comparisons
        if sum(isinstance(end, str) for end in (each.lesser, each.greater)) == 1
        or there.issuperset((each.lesser, each.greater))
    )
    if not closure(holding).satisfiable:
        return _typed(scan)  # then all of it is NULL
    checked = _renamed(Facts(holding, said.few), {name: (full,) for name, full in names.items()}, scan.alias)
    return _typed(scan) + checked


def _typed(plan: Plan) -> Facts:
    """What the types of columns say."""
    comparisons: list[Comparison] = []
    few: list[Few] = []
    for column in plan.columns:
        why = f"it is a {column.type}"
        if column.type.boolean:
            few.append(Few(column.name, why, 2))
        elif column.type.kind == "TINYINT":
            values = Interval(*limits(column.type))
            few.append(Few(column.name, why, values.size))
            comparisons += within(column.name, values, why)
    return Facts(tuple(comparisons), tuple(few))


def _numbers(rank: Rank) -> Facts:
    """The first is one, and the last what the query asks for."""
    name, limit = rank.result.name, rank.limit
    if limit is None or limit < 1:
        return Facts()
    why = f"it is a number up to {limit}"
    return Facts(tuple(within(name, Interval(1, limit), why)), (Few(name, why, limit),))


def _projected(plan: Project) -> Facts:
    names: dict[Element, list[str]] = {}
    computed: list[Comparison] = []
    few: list[Few] = []
    for output in plan.outputs:
        source = _source(output.expr.tree)
        if source is not None:
            names.setdefault(source, []).append(output.name)
        elif fixes(output.expr.tree, output.expr.type):
            said = f"it is {output.expr.sql}"
            few.append(Few(output.name, said, 1))
            if discrete(output.expr.type) and (value := number(output.expr.tree)) is not None:
                computed += equal(output.name, ZERO, int(value), said)
    below = _renamed(facts(plan.input), names, plan.columns[0].name)
    copies = (c for first, *rest in names.values() for each in rest for c in equal(first, each))
    return below + Facts((*copies, *computed), tuple(few)) + _typed(plan)


def _source(tree: exp.Expr) -> str | None:
    """The column whose values these are, NULL aside: what FILTER leaves of an argument has no others."""
    match tree:
        case exp.Column():
            return tree.name
        case exp.Case(this=None, args={"ifs": [exp.If(args={"true": chosen})]}) if not tree.args.get("default"):
            return _source(chosen)
        case _:
            return None


def _renamed(known: Facts, names: Mapping[Element, Iterable[str]], under: str) -> Facts:
    """In other names; what has none is hidden, but not forgotten."""
    first = {old: next(iter(new)) for old, new in names.items()}

    def new(element: Element) -> Element:
        return element if isinstance(element, Constant) else first.get(element) or Hidden(under, element)

    return Facts(
        tuple(replace(each, lesser=new(each.lesser), greater=new(each.greater)) for each in known.comparisons),
        tuple(replace(each, element=new(each.element)) for each in known.few),
    )


def _merged(merge: Merge) -> Facts:
    """What holds on every side: a column lies between the ends that it has on all of them."""
    comparisons: list[Comparison] = []
    few: list[Few] = []
    for column in merge.columns:
        found = [domain(each, column.name) for each in merge.inputs]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            continue
        sizes = [each.size for each in known if each.size is not None]
        few.append(Few(column.name, known[0].why, sum(sizes) if len(sizes) == len(found) else None))
        intervals = [closed(each).interval(column.name) for each in merge.inputs if closed(each).satisfiable]
        lows = [each.low for each in intervals if each.low is not None]
        highs = [each.high for each in intervals if each.high is not None]
        if intervals and len(lows) == len(highs) == len(intervals):
            comparisons += within(column.name, Interval(min(lows), max(highs)), known[0].why)
    return Facts(tuple(comparisons), tuple(few))
