"""Which type Spark gives to the result of an operator (Spark 4, ANSI mode).

sqlglot's own inference does not know the precision of decimals nor Spark's arithmetic on dates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from caesura.sql.datatypes import DAY_TIME, DAYS, INTERVALS, VOID, decimal
from caesura.types import STRING, Type

INT = Type("INT")
DOUBLE = Type("DOUBLE")
DATE = Type("DATE")
TIMESTAMP = Type("TIMESTAMP")

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}

# From precision and scale of both sides to those of the result
Digits: TypeAlias = Callable[[int, int, int, int], tuple[int, int]]


def bounded(precision: int, scale: int) -> Type:
    """A decimal of at most 38 digits; integral digits are kept before fractional ones, down to 6 of those."""
    if precision > 38:
        scale = max(38 - (precision - scale), min(scale, 6))
        precision = 38
    return Type(f"DECIMAL({precision}, {scale})")


def as_decimal(type: Type) -> Type:
    """The decimal that holds every value of an integral type."""
    return Type(f"DECIMAL({_DIGITS[type.kind]}, 0)") if type.integral else type


def rounded(type: Type, digits: int) -> Type:
    """What rounding to so many digits after the point gives."""
    if type.kind != "DECIMAL":
        return type
    precision, scale = decimal(type)
    integral = precision - scale + 1
    if digits < 0:
        return Type(f"DECIMAL({min(38, max(integral, 1 - digits))}, 0)")
    scale = min(scale, digits)
    return Type(f"DECIMAL({min(38, integral + scale)}, {scale})")


def common(left: Type, right: Type) -> Type | None:
    """The type that both are widened to in CASE, COALESCE and the like; None if there is none."""
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if left.integral and right.integral:
        return max(left, right, key=lambda type: _INTEGERS.index(type.kind))
    if left.numeric and right.numeric:
        if "DECIMAL" in (left.kind, right.kind) and not {"FLOAT", "DOUBLE"} & {left.kind, right.kind}:
            (p, s), (q, t) = decimal(as_decimal(left)), decimal(as_decimal(right))
            scale = max(s, t)
            return bounded(max(p - s, q - t) + scale, scale)
        return DOUBLE
    if left.temporal and right.temporal:
        return TIMESTAMP if "TIMESTAMP" in (left.kind, right.kind) else Type("TIMESTAMP_NTZ")
    if left.text and right.text:
        return STRING
    if {left, right} == {DAYS, DAY_TIME}:
        return DAY_TIME
    return None


def plus(left: Type, right: Type) -> Type | None:
    if left.numeric and right.numeric:
        return _numeric(left, right, lambda p, s, q, t: (max(s, t) + max(p - s, q - t) + 1, max(s, t)))
    if left in INTERVALS or left.integral:
        left, right = right, left  # a date or time comes first
    if left.kind == "DATE" and right.integral:
        return DATE
    return _shifted(left, right)


def minus(left: Type, right: Type) -> Type | None:
    if left.numeric and right.numeric:
        return plus(left, right)
    if left.kind == "DATE" and right.integral:
        return DATE
    if left.temporal and right.temporal:
        return DAYS if left.kind == right.kind == "DATE" else DAY_TIME
    return _shifted(left, right)


def _shifted(left: Type, right: Type) -> Type | None:
    if right not in INTERVALS:
        return None
    if left in INTERVALS:
        return common(left, right)
    if left.kind == "DATE":
        return TIMESTAMP if right == DAY_TIME else DATE
    return left if left.temporal else None


def times(left: Type, right: Type) -> Type | None:
    if right in INTERVALS:
        left, right = right, left  # the interval comes first
    if left in INTERVALS:
        return _scaled(left) if right.numeric else None
    return _numeric(left, right, lambda p, s, q, t: (p + q + 1, s + t))


def _scaled(interval: Type) -> Type:
    """Half a day is no number of days."""
    return DAY_TIME if interval == DAYS else interval


def divide(left: Type, right: Type) -> Type | None:
    if left in INTERVALS:
        return _scaled(left) if right.numeric else None
    if left.integral and right.integral:
        return DOUBLE
    found = _numeric(left, right, lambda p, s, q, t: (p - s + t + max(6, s + q + 1), max(6, s + q + 1)))
    return DOUBLE if found is not None and found.kind == "FLOAT" else found


def modulo(left: Type, right: Type) -> Type | None:
    return _numeric(left, right, lambda p, s, q, t: (min(p - s, q - t) + max(s, t), max(s, t)))


def _numeric(left: Type, right: Type, digits: Digits) -> Type | None:
    if VOID in (left, right):
        return common(left, right) if (left if right == VOID else right).numeric else None
    if not (left.numeric and right.numeric):
        return None
    wide = common(left, right)
    if wide is None or wide.kind != "DECIMAL":
        return wide
    return bounded(*digits(*decimal(as_decimal(left)), *decimal(as_decimal(right))))
