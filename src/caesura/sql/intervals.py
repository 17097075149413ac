"""Lengths of time in declarations and windows."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlglot import exp

from caesura.catalog import UNITS, Interval
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql.refusal import refusal
from caesura.sql.spans import span


def interval(node: exp.Expr, source: Source) -> Interval:
    """One number of one unit. Months and years are refused: they have no fixed length."""
    unit = node.args.get("unit")
    number = node.this
    if isinstance(node, exp.Interval) and isinstance(number, exp.Literal) and isinstance(unit, exp.Var):
        length = fixed_length(f"{number.name} {unit.name}")
        if length is not None:
            return length
    raise refusal(
        Code.BAD_INTERVAL,
        "an interval here is one positive number of one unit",
        span(node, source),
        because=f"units of fixed length are {', '.join(UNITS)}",
    )


def fixed_length(text: str) -> Interval | None:
    """`5 seconds`, if it is a positive number of a unit of fixed length."""
    number, _, unit = text.strip().partition(" ")
    name = unit.strip().upper()
    return Interval(f"INTERVAL {number} {name}") if name.removesuffix("S") in UNITS and _positive(number) else None


def _positive(text: str) -> bool:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and number > 0
