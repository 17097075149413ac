"""THEORY section 3: expressions that keep the order of a column: what is closed of it is closed of them too.

Dates, years and texts of times are read off a wall clock, which may be put back. No time zone puts it back by more
than a day, nor twice within two days. So from some moment on it shows nothing less than the lesser of two: what it
shows then, and what it shows a day later, less a day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sqlglot import exp

from caesura.catalog import Interval
from caesura.expression import Expr, shown, sql
from caesura.safety.patterns import disorder
from caesura.safety.predicates import constant
from caesura.types import BIGINT, STRING, Type

End: TypeAlias = Literal["low", "high"]
At: TypeAlias = Callable[[str, End], str]

_CLOCK = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_DAYS = ("WEEK", "DAY")
_MONTHS = ("YEAR", "QUARTER", "MONTH")
_DAY = 86_400_000_000  # in microseconds
_DATE, _TIME, _WALL_CLOCK = Type("DATE"), Type("TIMESTAMP"), Type("TIMESTAMP_NTZ")
_LEAST_YEAR = "'0'"  # of four digits
_UNITS = {exp.UnixSeconds: "unix_seconds", exp.UnixMillis: "unix_millis", exp.UnixMicros: "unix_micros"}


@dataclass(frozen=True)
class Rising:
    """An expression that keeps the order of a column: where all values of the column up to x are closed, all
    before its own at x are."""

    column: str
    type: Type
    strict: bool
    """Whether different values of the column give different values. Otherwise the value at x may come again."""
    at: At
    """The expression at the end of a range of the column (SQL): no value beyond a high end gives less, none beyond
    a low end more. NULL where it has none, instead of an error."""
    least: str | None = None
    """Said of values from this on alone (SQL); those before it keep no order."""


def rises_with(expr: Expr, types: Mapping[str, Type]) -> str | None:
    """The column whose order the expression keeps, if there is one."""
    found = rising(expr.tree, types)
    return found.column if found is not None else None


def starts_window(tree: exp.Expr) -> bool:
    """Whether it is the start of a time bucket, as the binder spells it. A row without a time is in none."""
    return isinstance(tree, exp.Dot) and isinstance(tree.this, exp.Anonymous) and tree.this.name == "window"


def disordered(tree: exp.Expr) -> Iterator[tuple[str, str, str]]:
    """Each column of which a text is made that is not in the order of its times, the text, and why it is not."""
    for text in tree.find_all(exp.Anonymous):
        if text.name == "DATE_FORMAT" and (why := _disorder(text)) is not None:
            yield from ((each.name, shown(text), why) for each in text.expressions[0].find_all(exp.Column))


def rising(tree: exp.Expr, types: Mapping[str, Type]) -> Rising | None:
    match tree:
        case exp.Column():
            return Rising(tree.name, types[tree.name], strict=True, at=lambda value, end: value)
        case exp.Paren():
            return rising(tree.this, types)
        case exp.Floor() | exp.Ceil():
            return _called(rising(tree.this, types), tree)
        case exp.TimestampTrunc():
            return _truncated(tree, _cast(rising(tree.this, types), _TIME))
        case exp.DateTrunc():
            return _called(_cast(rising(tree.this, types), _DATE), tree)
        case exp.TsOrDsToDate() if tree.args.get("format") is None:
            return _cast(rising(tree.this, types), _DATE)
        case exp.Cast(to=to):  # TryCast is one
            return _cast(rising(tree.this, types), Type(to.sql(dialect="spark").upper()))
        case exp.Year():
            return _year(rising(tree.this, types))
        case exp.Extract() if tree.name.upper() == "YEAR":
            return _year(rising(tree.expression, types))
        case exp.Anonymous(this="DATE_FORMAT", expressions=[time, _]):
            return _text(tree, rising(time, types))
        case (
            exp.StrToUnix(this=time)
            | exp.Anonymous(this="UNIX_TIMESTAMP" | "TO_UNIX_TIMESTAMP", expressions=[time, _])
        ):
            return _seconds(rising(time, types), "unix_seconds")
        case exp.UnixSeconds() | exp.UnixMillis() | exp.UnixMicros():
            return _seconds(rising(tree.this, types), _UNITS[type(tree)])
        case exp.Dot() if starts_window(tree):
            return _window(tree.this, rising(tree.this.expressions[0], types))
        case exp.IntDiv() | exp.Div() if _positive(tree.expression):
            return _divided(tree, rising(tree.this, types))
        case exp.Add() if constant(tree.right):
            return _shifted(tree, rising(tree.left, types), tree.right)
        case exp.Add() if constant(tree.left):
            return _shifted(tree, rising(tree.right, types), tree.left)
        case exp.Sub() if constant(tree.right):
            return _shifted(tree, rising(tree.left, types), tree.right)
        case _:
            return None


def _over(inner: Rising, of: Callable[[str], str], type: Type | None = None, *, strict: bool = False) -> Rising:
    """A function of it that never falls."""
    return replace(
        inner,
        type=inner.type if type is None else type,
        strict=inner.strict and strict,
        at=lambda value, end: of(inner.at(value, end)),
    )


def _called(inner: Rising | None, tree: exp.Expr) -> Rising | None:
    """The tree's own function of it."""
    if inner is None:
        return None

    def called(value: str) -> str:
        copy = tree.copy()
        copy.set("this", exp.Var(this=value))
        return sql(copy)

    return _over(inner, called)


def _cast(inner: Rising | None, to: Type) -> Rising | None:
    """Numbers stay ordered as numbers and times as times. A text is ordered by its letters."""
    if inner is None or inner.type == to:
        return inner
    one = inner.type
    if not ((one.numeric and to.numeric) or (one.temporal and to.temporal)):
        return None
    if one.kind == "TIMESTAMP" and to.kind == "DATE":
        return _cast(_across(inner, _WALL_CLOCK), to)
    if {one.kind, to.kind} == {"TIMESTAMP", "TIMESTAMP_NTZ"}:
        return _across(inner, to)
    return _over(inner, lambda value: _as(value, to), to, strict=one.integral and to.integral)


def _as(value: str, to: Type) -> str:
    return f"TRY_CAST({value} AS {to})"


def _across(inner: Rising, to: Type) -> Rising:
    """From a moment to what the wall clock shows, or back."""

    def at(value: str, end: End) -> str:
        here = inner.at(value, end)
        beyond, back, nearer = (_DAY, -_DAY, "least") if end == "high" else (-_DAY, _DAY, "greatest")
        there = _moved(_as(_moved(here, beyond, inner.type), to), back, to)
        return f"IF({there} IS NULL, NULL, {nearer}({_as(here, to)}, {there}))"  # they would leave out a NULL

    return replace(inner, type=to, strict=False, at=at)


def _moved(value: str, micros: int, type: Type) -> str:
    """By so many microseconds: Spark's own days are those of the wall clock."""
    if type.kind == "TIMESTAMP":
        return f"timestamp_micros(try_add(unix_micros({value}), {micros}L))"
    return f"try_add({value}, make_dt_interval(0, 0, 0, {micros // 1_000_000}))"


def _truncated(tree: exp.TimestampTrunc, inner: Rising | None) -> Rising | None:
    """Days and what is longer begin by the wall clock."""
    if inner is None or tree.args["unit"].name.upper() in _CLOCK:
        return _called(inner, tree)
    return _called(_cast(_across(inner, _WALL_CLOCK), _TIME), tree)


def _year(inner: Rising | None) -> Rising | None:
    date = _cast(inner, _DATE)
    return None if date is None else _over(date, lambda value: f"year({value})", Type("INT"))


def _text(tree: exp.Anonymous, inner: Rising | None) -> Rising | None:
    """Years before 0 and after 9999 are written with a sign, which comes before all digits: nothing is said of
    those."""
    time = _cast(inner, _TIME)
    if inner is None or time is None or _disorder(tree) is not None:
        return None
    clock = inner if inner.type.kind == "DATE" else _across(time, _WALL_CLOCK)
    pattern = sql(tree.expressions[1])

    def text(known: str) -> str:
        # BETWEEN is nothing that Spark evaluates in a table of constants.
        return f"IF(year({known}) >= 0 AND year({known}) <= 9999, date_format({known}, {pattern}), NULL)"

    return replace(_over(clock, text, STRING), least=_LEAST_YEAR)


def _disorder(text: exp.Anonymous) -> str | None:
    """Why the texts are not in the order of the times; None if they are."""
    pattern = text.expressions[1]
    return disorder(pattern.name) if pattern.is_string else "the pattern is not a constant"


def _seconds(inner: Rising | None, function: str) -> Rising | None:
    """Since 1970; a text would be parsed."""
    if inner is None or inner.type.kind not in ("TIMESTAMP", "DATE"):
        return None
    time = _cast(inner, _TIME)
    return None if time is None else _over(time, lambda value: f"{function}({value})", BIGINT)


def _window(call: exp.Expr, inner: Rising | None) -> Rising | None:
    """The start of the first time bucket that holds a time: the least one after the time less the size."""
    time = _cast(inner, _TIME)
    if time is None:
        return None
    size, slide, *start = (Interval(f"INTERVAL {length.name}").microseconds for length in call.expressions[1:])

    def first(value: str) -> str:
        before = f"(unix_micros({value}) - {size}L)"
        return f"timestamp_micros({before} - pmod({before} - {sum(start)}L, {slide}L) + {slide}L)"

    return _over(time, first)


def _positive(tree: exp.Expr) -> bool:
    by = _number(tree)
    return by is not None and float(by.name) > 0


def _number(tree: exp.Expr) -> exp.Literal | None:
    """A number as it is written, or a whole one that is given another type of whole ones: 10L is read so."""
    match tree.unnest():
        case exp.Literal(is_string=False) as literal:
            return literal
        case exp.Cast(this=inner, to=to) if Type(to.sql(dialect="spark").upper()).integral:
            found = _number(inner)
            return found if found is not None and found.is_int else None
        case _:
            return None


def _divided(tree: exp.IntDiv | exp.Div, inner: Rising | None) -> Rising | None:
    """By a positive number."""
    if inner is None or not inner.type.numeric:
        return None
    by = sql(tree.expression)
    if isinstance(tree, exp.Div):
        type = Type("DOUBLE") if inner.type.integral else inner.type
        return _over(inner, lambda value: f"try_divide({value}, {by})", type)
    number = _number(tree.expression)
    whole = inner.type.integral and number is not None and number.is_int
    return _over(inner, lambda value: f"({value} DIV {by})", BIGINT) if whole else None


def _shifted(tree: exp.Add | exp.Sub, inner: Rising | None, by: exp.Expr) -> Rising | None:
    if inner is None or not _moves(inner.type, by):
        return None
    function, constant_sql = "try_add" if isinstance(tree, exp.Add) else "try_subtract", sql(by)
    strict = inner.type.integral or inner.type.kind in ("TIMESTAMP", "TIMESTAMP_NTZ")
    return _over(inner, lambda value: f"{function}({value}, {constant_sql})", strict=strict)


def _moves(type: Type, by: exp.Expr) -> bool:
    """Whether values of the type stay in order when they are moved."""
    if not type.temporal:
        return True
    units = _units(by)
    if type.kind == "DATE":  # dates move by whole days, or become times
        return units is None or units <= {*_DAYS, *_MONTHS}
    # A day is as long as the clock has it: half past two may be moved behind three where a clock is put forward.
    fixed = _CLOCK if type.kind == "TIMESTAMP" else (*_DAYS, *_CLOCK)
    return units is not None and units <= {*fixed}


def _units(by: exp.Expr) -> set[str] | None:
    """The units of an interval; None for a number."""
    by = by.unnest()
    if not isinstance(by, exp.Interval):
        return None
    unit = by.args.get("unit")
    names = {each.name.upper().removesuffix("S") for each in unit.find_all(exp.Var)} if unit is not None else set()
    return names or {"?"}
