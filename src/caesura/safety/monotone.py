"""THEORY section 3: expressions that keep the order of a column: what is closed of it is closed of them too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.catalog import Interval
from caesura.expression import Expr
from caesura.safety.predicates import constant
from caesura.types import Type

_CLOCK = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_DAYS = ("WEEK", "DAY")
_MONTHS = ("YEAR", "QUARTER", "MONTH")


@dataclass(frozen=True)
class Rising:
    """An expression that never falls with a column: where all values of the column up to x are closed, all values
    before its own at x are."""

    column: str
    tree: exp.Expr
    type: Type
    strict: bool
    """Whether different values of the column give different values. Otherwise the value at x may come again."""

    def at(self, value: str) -> str:
        """The expression at a value of the column (SQL); NULL where it has none, instead of an error."""
        return _at(self.tree, value)


def rises_with(expr: Expr, types: Mapping[str, Type]) -> str | None:
    """The column that the expression never falls with, if there is one."""
    found = rising(expr.tree, types)
    return found.column if found is not None else None


def starts_window(tree: exp.Expr) -> bool:
    """Whether it is the start of a time bucket, as the binder spells it. A row without a time is in none."""
    return isinstance(tree, exp.Dot) and isinstance(tree.this, exp.Anonymous) and tree.this.name == "window"


def _at(tree: exp.Expr, value: str) -> str:
    """In the forms that `rising` knows, from the column up."""
    match tree:
        case exp.Column():
            return value
        case exp.Paren():
            return f"({_at(tree.this, value)})"
        case exp.Cast(to=to):
            return f"TRY_CAST({_at(tree.this, value)} AS {to.sql(dialect='spark')})"
        case exp.Add() | exp.Sub():
            one, other = (_sql(e) if constant(e) else _at(e, value) for e in (tree.left, tree.right))
            return f"{'try_add' if isinstance(tree, exp.Add) else 'try_subtract'}({one}, {other})"
        case exp.Dot():
            return _first_window(tree.this, value)
        case _:
            copy = tree.copy()
            copy.set("this", exp.Var(this=_at(tree.this, value)))
            return _sql(copy)


def _first_window(call: exp.Expr, value: str) -> str:
    """The start of the first time bucket that holds a time: the least one after the time less the size."""
    time, *lengths = call.expressions
    size, slide, *start = (Interval(f"INTERVAL {length.name}").microseconds for length in lengths)
    before = f"(unix_micros({_at(time, value)}) - {size}L)"
    return f"timestamp_micros({before} - pmod({before} - {sum(start)}L, {slide}L) + {slide}L)"


def _sql(tree: exp.Expr) -> str:
    return tree.sql(dialect="spark", comments=False)


def rising(tree: exp.Expr, types: Mapping[str, Type]) -> Rising | None:
    match tree:
        case exp.Column():
            return Rising(tree.name, tree, types[tree.name], strict=True)
        case exp.Paren():
            return _over(tree, rising(tree.this, types))
        case exp.TimestampTrunc() | exp.DateTrunc() | exp.Floor() | exp.Ceil():
            return _over(tree, rising(tree.this, types), strict=False)
        case exp.TsOrDsToDate() if tree.args.get("format") is None:
            return _cast(tree, rising(tree.this, types), Type("DATE"))
        case exp.Cast(to=to):  # TryCast is one
            return _cast(tree, rising(tree.this, types), Type(to.sql(dialect="spark").upper()))
        case exp.Dot() if starts_window(tree):
            return _over(tree, rising(tree.this.expressions[0], types), strict=False)
        case exp.Add() if constant(tree.right):
            return _shifted(tree, rising(tree.left, types), tree.right)
        case exp.Add() if constant(tree.left):
            return _shifted(tree, rising(tree.right, types), tree.left)
        case exp.Sub() if constant(tree.right):
            return _shifted(tree, rising(tree.left, types), tree.right)
        case _:
            return None


def _over(tree: exp.Expr, inner: Rising | None, *, strict: bool = True) -> Rising | None:
    return None if inner is None else replace(inner, tree=tree, strict=inner.strict and strict)


def _cast(tree: exp.Expr, inner: Rising | None, to: Type) -> Rising | None:
    if inner is None or not _keeps_order(inner.type, to):
        return None
    exact = inner.type.integral and to.integral
    return replace(inner, tree=tree, type=to, strict=inner.strict and exact)


def _keeps_order(one: Type, other: Type) -> bool:
    """Numbers stay ordered as numbers and times as times. A text is ordered by its letters, and a wall clock goes
    back once a year."""
    clocks = {one.kind, other.kind} == {"TIMESTAMP", "TIMESTAMP_NTZ"}
    return (one.numeric and other.numeric) or (one.temporal and other.temporal and not clocks)


def _shifted(tree: exp.Expr, inner: Rising | None, by: exp.Expr) -> Rising | None:
    if inner is None:
        return None
    if not inner.type.temporal:
        return _over(tree, inner, strict=inner.type.integral)
    units = _units(by)
    if inner.type.kind == "DATE":  # dates move by whole days, or become times
        return _over(tree, inner, strict=False) if units is None or units <= {*_DAYS, *_MONTHS} else None
    # A day is as long as the clock has it: half past two may be moved behind three where a clock is put forward.
    fixed = _CLOCK if inner.type.kind == "TIMESTAMP" else (*_DAYS, *_CLOCK)
    return _over(tree, inner) if units is not None and units <= {*fixed} else None


def _units(by: exp.Expr) -> set[str] | None:
    """The units of an interval; None for a number."""
    by = by.unnest()
    if not isinstance(by, exp.Interval):
        return None
    unit = by.args.get("unit")
    names = {each.name.upper().removesuffix("S") for each in unit.find_all(exp.Var)} if unit is not None else set()
    return names or {"?"}
