"""Lengths of time in declarations and windows."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlglot import exp

from caesura.catalog import Interval
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql.refusal import refusal
from caesura.sql.spans import span

_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK")


def interval(node: exp.Expr, source: Source) -> Interval:
    """One number of one unit. Months and years are refused: they have no fixed length."""
    unit = node.args.get("unit")
    number = node.this
    if isinstance(node, exp.Interval) and isinstance(number, exp.Literal) and isinstance(unit, exp.Var):
        name = unit.name.upper()
        if name.removesuffix("S") in _UNITS and _positive(number.name):
            return Interval(f"INTERVAL {number.name.strip()} {name}")
    raise refusal(
        Code.BAD_INTERVAL,
        "an interval here is one positive number of one unit",
        span(node, source),
        because=f"units of fixed length are {', '.join(_UNITS)}",
    )


def _positive(text: str) -> bool:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and number > 0
