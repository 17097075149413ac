"""What comparisons hold in every row of a plan, by its filters, joins, CHECKs, types and tables.

A NULL compares with nothing. Where a filter compares columns it keeps NULLs away; a CHECK does not, so that one
between two columns counts only where neither can be NULL. A column that nothing else bounds may be NULL besides
its few values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TypeAlias

from sqlglot import exp

from caesura.catalog import Stream
from caesura.expression import Expr, shown
from caesura.plan import Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort
from caesura.safety.comparisons import (
    ZERO,
    Closure,
    Comparison,
    Constant,
    Element,
    Few,
    Hidden,
    closure,
    equal,
)
from caesura.safety.equality import family, fixes
from caesura.safety.predicates import conjuncts
from caesura.safety.predicates import constant as is_constant
from caesura.safety.presence import present
from caesura.sql.datatypes import decimal
from caesura.types import Type

Types: TypeAlias = Mapping[str, Type]
_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_ARITHMETIC: Mapping[type[exp.Expr], Callable[[Fraction, Fraction], Fraction]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


@dataclass(frozen=True)
class Facts:
    comparisons: tuple[Comparison, ...] = ()
    few: tuple[Few, ...] = ()

    def __add__(self, other: Facts) -> Facts:
        return Facts((*self.comparisons, *other.comparisons), (*self.few, *other.few))


@dataclass(frozen=True)
class Domain:
    """Why a column has finitely many values, as a clause, and how many at the most, if that can be told."""

    why: str
    size: int | None = None


def types_of(*plans: Plan) -> dict[str, Type]:
    return {column.name: column.type for plan in plans for column in plan.columns}


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
            return _sum(each for i, each in enumerate(known) if i not in plan.padded or _satisfiable(each))
        case Group(input=below, keys=()):  # a row comes out where none goes in
            return _typed(plan)
        case Group(input=below, keys=keys):
            return _renamed(facts(below), {key: (key,) for key in keys}, plan.columns[0].name) + _typed(plan)
        case Distinct(input=below) | Sort(input=below):
            return facts(below)
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
    return _sum(facts(each) for each in join.inputs) + Facts(tuple(joined)) + said


@lru_cache(maxsize=1024)
def matching_closure(join: Join) -> Closure:
    """P⁺ where a row of every input meets the others."""
    known = matching(join)
    return closure(known.comparisons, known.few)


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


def _sum(several: Iterable[Facts]) -> Facts:
    found = list(several)
    return Facts(
        tuple(c for each in found for c in each.comparisons), tuple(few for each in found for few in each.few)
    )


def _scanned(scan: Scan) -> Facts:
    names = {column.name: f"{scan.alias}.{column.name}" for column in scan.relation.columns}
    if not isinstance(scan.relation, Stream):
        return Facts(few=tuple(Few(name, f"`{scan.relation.name}` is finite") for name in names.values()))
    types = {column.name: column.type for column in scan.relation.columns}
    said = _sum(stated(check.condition, types) for check in scan.relation.checks)
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
            low, high = limits(column.type)
            few.append(Few(column.name, why, high - low + 1))
            comparisons += (Comparison(column.name, ZERO, high, why), Comparison(ZERO, column.name, -low, why))
    return Facts(tuple(comparisons), tuple(few))


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
            comparisons += (
                Comparison(column.name, ZERO, max(highs), known[0].why),
                Comparison(ZERO, column.name, -min(lows), known[0].why),
            )
    return Facts(tuple(comparisons), tuple(few))


def stated(predicate: Expr, types: Types) -> Facts:
    """What the conjuncts of a predicate say, as far as they compare."""
    return _sum(said(conjunct, types) for conjunct in conjuncts(predicate.tree))


def said(conjunct: exp.Expr, types: Types) -> Facts:
    """What one conjunct says; nothing, if it is no comparison of columns and constants."""
    text = shown(conjunct)
    match conjunct:
        case exp.EQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            pairs = [(conjunct.left, conjunct.right, type(conjunct))]
        case exp.Between():
            one, low, high = conjunct.this, conjunct.args["low"], conjunct.args["high"]
            pairs = [(one, low, exp.GTE), (one, high, exp.LTE)]
        case exp.In(this=one, expressions=[_, *_] as values) if all(map(is_constant, values)):
            return _listed(one.unnest(), values, types, text)
        case _:
            return Facts()
    return _sum(_compared(one.unnest(), other.unnest(), kind, types, text) for one, other, kind in pairs)


def _listed(one: exp.Expr, values: list[exp.Expr], types: Types, text: str) -> Facts:
    if not isinstance(one, exp.Column):
        return Facts()
    numbers = [number(each) for each in values] if discrete(types[one.name]) else []
    known = [each for each in numbers if each is not None]
    ends: tuple[Comparison, ...] = ()
    if known and len(known) == len(values):
        ends = (
            Comparison(one.name, ZERO, floor(max(known)), text),
            Comparison(ZERO, one.name, -ceil(min(known)), text),
        )
    condition = exp.In(this=one.copy(), expressions=[each.copy() for each in values])
    return Facts(ends, (Few(one.name, text, len({each.sql() for each in values}), condition),))


def _compared(one: exp.Expr, other: exp.Expr, kind: type[exp.Expr], types: Types, text: str) -> Facts:
    if kind in (exp.GT, exp.GTE):
        one, other, kind = other, one, exp.LT if kind is exp.GT else exp.LTE
    lesser, greater = _shifted(one, types), _shifted(other, types)
    if lesser is None or greater is None:
        return Facts()
    (x, plus), (y, more) = lesser, greater
    columns = [each for each in (x, y) if isinstance(each, str)]
    if not columns or len({family(types[each]) for each in columns}) > 1:
        return Facts()
    few: tuple[Few, ...] = ()
    if kind is exp.EQ and len(columns) == 1:
        column, fixed = (one, other) if isinstance(x, str) else (other, one)
        if isinstance(column, exp.Column) and fixes(fixed, types[column.name]):
            condition = exp.EQ(this=column.copy(), expression=fixed.copy())
            few = (Few(column.name, f"it is {shown(fixed)}", 1, condition),)
    if not all(discrete(types[each]) for each in columns) and (len(columns) == 1 or plus or more):
        return Facts(few=few)
    gap = more - plus
    most = ceil(gap) - 1 if kind is exp.LT else floor(gap)
    comparisons = [Comparison(x, y, most, text)]
    if kind is exp.EQ:
        comparisons.append(Comparison(y, x, floor(-gap), text))
    return Facts(tuple(comparisons), few)


def _shifted(tree: exp.Expr, types: Types) -> tuple[Element, Fraction] | None:
    """A column with numbers added or taken away, or a constant."""
    tree = tree.unnest()
    match tree:
        case exp.Column():
            return tree.name, Fraction(0)
        case exp.Null():
            return None
        case _ if is_constant(tree):
            value = number(tree)
            return (ZERO, value) if value is not None else (Constant(shown(tree), None), Fraction(0))
        case exp.Add() | exp.Sub():
            sides = (tree.left, tree.right)
            if isinstance(tree, exp.Add) and is_constant(tree.left):
                sides = (tree.right, tree.left)
            base, by = _shifted(sides[0], types), number(sides[1])
            if base is None or by is None or not isinstance(base[0], str):
                return None
            return base[0], base[1] + (by if isinstance(tree, exp.Add) else -by)
        case _:
            return None


def discrete(type: Type) -> bool:
    """Between two values lie finitely many."""
    return type.enumerable or family(type) == family(Type("BIGINT"))


def limits(type: Type) -> tuple[int, int]:
    """The least and the greatest value of a type whose values are counted."""
    if type.kind == "DATE":
        return date.min.toordinal(), date.max.toordinal()
    if type.kind == "DECIMAL":
        most = 10 ** decimal(type)[0] - 1
        return -most, most
    bits = _BITS[type.kind]
    return -(2**bits), 2**bits - 1


def number(tree: exp.Expr) -> Fraction | None:
    """The value of a constant: a number, or a date as the number of its day."""
    match tree.unnest():
        case exp.Literal(is_string=False) as literal:  # with an exponent it is a double, which counts in steps
            return None if "e" in literal.name.lower() else Fraction(literal.name)
        case exp.Neg(this=below):
            value = number(below)
            return None if value is None else -value
        case exp.Cast(this=exp.Literal(is_string=True) as literal, to=to) if to.sql(dialect="spark") == "DATE":
            return _day(literal.name)
        case exp.Cast(this=below, to=to) if Type(to.sql(dialect="spark").upper()).integral:
            value = number(below)
            return value if value is not None and value.denominator == 1 else None
        case (exp.Add() | exp.Sub() | exp.Mul()) as both:
            one, other = number(both.left), number(both.right)
            if one is None or other is None:
                return None
            return _ARITHMETIC[type(both)](one, other)
        case _:
            return None


def _day(text: str) -> Fraction | None:
    try:
        return Fraction(date.fromisoformat(text).toordinal())
    except ValueError:
        return None
