"""What the conjuncts of a predicate say, as comparisons: the one place that reads them off SQL."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from sqlglot import exp

from caesura.expression import Expr, shown
from caesura.safety.comparisons import ZERO, Comparison, Constant, Element, Few, Interval, within
from caesura.safety.equality import family, fixes
from caesura.safety.predicates import conjuncts
from caesura.safety.predicates import constant as is_constant
from caesura.sql.datatypes import decimal
from caesura.types import BITS, Type

Types: TypeAlias = Mapping[str, Type]
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


def total(several: Iterable[Facts]) -> Facts:
    found = list(several)
    return Facts(
        tuple(c for each in found for c in each.comparisons), tuple(few for each in found for few in each.few)
    )


def stated(predicate: Expr, types: Types) -> Facts:
    """What the conjuncts of a predicate say, as far as they compare."""
    return total(said(conjunct, types) for conjunct in conjuncts(predicate.tree))


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
    return total(_compared(one.unnest(), other.unnest(), kind, types, text) for one, other, kind in pairs)


def _listed(one: exp.Expr, values: list[exp.Expr], types: Types, text: str) -> Facts:
    if not isinstance(one, exp.Column):
        return Facts()
    numbers = [number(each) for each in values] if discrete(types[one.name]) else []
    known = [each for each in numbers if each is not None]
    ends: tuple[Comparison, ...] = ()
    if known and len(known) == len(values):
        ends = within(one.name, Interval(ceil(min(known)), floor(max(known))), text)
    condition = exp.In(this=one.copy(), expressions=[each.copy() for each in values])
    return Facts(ends, (Few(one.name, text, len({each.sql() for each in values}), condition),))


def _compared(one: exp.Expr, other: exp.Expr, kind: type[exp.Expr], types: Types, text: str) -> Facts:
    if kind in (exp.GT, exp.GTE):
        one, other, kind = other, one, exp.LT if kind is exp.GT else exp.LTE
    lesser, greater = _shifted(one), _shifted(other)
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


def _shifted(tree: exp.Expr) -> tuple[Element, Fraction] | None:
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
            base, by = _shifted(sides[0]), number(sides[1])
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
    bits = BITS[type.kind]
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
