"""Lengths of time in declarations and windows."""

from __future__ import annotations

import re

from sqlglot import exp

from caesura.catalog import UNITS, Interval
from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql.refusal import refusal
from caesura.sql.spans import span

_LONGEST = 2**63 - 1
"""In microseconds: what Spark can count."""


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
        because=f"units of fixed length are {', '.join(UNITS)}; only seconds have parts",
        help="write, say, INTERVAL 90 SECONDS",
    )


def fixed_length(text: str) -> Interval | None:
    """`5 seconds`, if it is a positive number of a unit of fixed length; parts of a unit are parts of a second."""
    number, _, unit = text.strip().partition(" ")
    name = unit.strip().upper()
    form = r"[0-9]+([.][0-9]{1,6})?" if name.removesuffix("S") == "SECOND" else "[0-9]+"
    if name.removesuffix("S") not in UNITS or not re.fullmatch(form, number, re.ASCII):
        return None
    length = Interval(f"INTERVAL {number} {name}")
    return length if 0 < length.microseconds <= _LONGEST else None
