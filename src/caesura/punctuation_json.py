"""Punctuations on the wire: a JSON object from column to pattern.

Reading is strict, because a punctuation that is misread purges rows that are still needed, whereas one that is
refused only delays a purge. So values must fit their column exactly: nothing is rounded or converted.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

from caesura.punctuation import Constant, Empty, Listed, Pattern, Punctuation, Range, Value, Wildcard, normal, rank
from caesura.types import Type

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    _DATE.pattern + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
)


class Unreadable(ValueError):  # noqa: N818 - raised by `read`, caught by name: the reason is what counts
    """The text is no punctuation of its stream; the message is the reason, fit for quarantine."""


def read(text: str, columns: Mapping[str, Type]) -> Punctuation:
    """Inverse of `write`: read(write(p), columns) == p for every p whose values are of their columns' types."""
    try:
        parsed = json.loads(
            text, object_pairs_hook=_without_duplicates, parse_float=Decimal, parse_constant=_refuse
        )
    except Unreadable:
        raise
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Unreadable("not JSON") from error
    if not isinstance(parsed, dict):
        raise Unreadable("not an object")
    patterns = {}
    for name, written in parsed.items():
        if name not in columns:
            raise Unreadable(f"unknown column `{name}`")
        if not columns[name].scalar:
            raise Unreadable(f"`{name}` has no patterns: it is {columns[name]}")
        patterns[name] = _pattern(name, columns[name], written)
    return Punctuation.of(patterns)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Unreadable(f"duplicate key `{key}`")
        found[key] = value
    return found


def _refuse(constant: str) -> None:
    raise Unreadable(f"not JSON: {constant}")


def _pattern(name: str, type: Type, written: object) -> Pattern:
    match written:
        case dict():
            return _range(name, type, written)
        case list():
            return normal(Listed(frozenset(_value(name, type, value) for value in written)))
        case _:
            return Constant(_value(name, type, written))


def _range(name: str, type: Type, written: dict[str, object]) -> Pattern:
    if not written:
        raise Unreadable(f"the range of `{name}` has no end")
    for key in written:
        if key not in ("gt", "ge", "lt", "le"):
            raise Unreadable(f"the range of `{name}` has `{key}`, not one of gt, ge, lt, le")
    for one, other in (("gt", "ge"), ("lt", "le")):
        if one in written and other in written:
            raise Unreadable(f"the range of `{name}` has both {one} and {other}")
    ends = {key: _value(name, type, value) for key, value in written.items()}
    return normal(
        Range(ends.get("gt", ends.get("ge")), ends.get("lt", ends.get("le")), "gt" in ends, "lt" in ends)
    )


def _value(name: str, type: Type, written: object) -> Value:
    match written:
        case None:
            raise Unreadable(f"`{name}` is null: to match every value leave it out")
        case bool():
            if type.boolean:
                return written
        case int() if type.integral:
            if -(2 ** (_BITS[type.kind] - 1)) <= written < 2 ** (_BITS[type.kind] - 1):
                return written
            raise _out_of_range(name, type)
        case int() | Decimal() if type.kind == "DECIMAL":
            return _decimal(name, type, Decimal(written))
        case int() | Decimal() if type.numeric and not type.integral:
            return _float(name, type, Decimal(written))
        case str() if type.text:
            if any("\ud800" <= character <= "\udfff" for character in written):
                raise Unreadable(f"`{name}` has half a surrogate pair")
            return written
        case str() if type.temporal:
            return _time(name, type, written)
    raise Unreadable(f"wrong type for `{name}`, which is {type}")


def _out_of_range(name: str, type: Type) -> Unreadable:
    return Unreadable(f"out of range for `{name}`, which is {type}")


def _decimal(name: str, type: Type, value: Decimal) -> Decimal:
    """Exact in the column's precision and scale, or refused. Spark's bare DECIMAL is DECIMAL(10, 0)."""
    match [int(number) for number in re.findall("[0-9]+", type.sql)]:
        case [precision, scale]:
            pass
        case [precision]:
            scale = 0
        case _:
            precision, scale = 10, 0
    exactly = Context(prec=precision, traps=[Inexact, InvalidOperation])
    try:
        return exactly.quantize(value, Decimal((0, (1,), -scale)))
    except (Inexact, InvalidOperation):
        raise _out_of_range(name, type) from None


def _float(name: str, type: Type, value: Decimal) -> float:
    """The nearest value the column can hold, as Spark itself would read the number."""
    nearest = float(value)
    if type.kind == "FLOAT":
        try:
            nearest = float(struct.unpack("f", struct.pack("f", nearest))[0])
        except OverflowError:
            raise _out_of_range(name, type) from None
    if math.isinf(nearest):
        raise _out_of_range(name, type)
    return nearest


def _time(name: str, type: Type, written: str) -> date | datetime:
    """A DATE is a date, a TIMESTAMP an instant in UTC, a TIMESTAMP_NTZ a time without zone."""
    try:
        if type.kind == "DATE":
            if _DATE.fullmatch(written):
                return date.fromisoformat(written)
        elif form := _TIMESTAMP.fullmatch(written):
            time = datetime.fromisoformat(written)
            if type.kind == "TIMESTAMP":
                return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
            if form["zone"] is None:
                return time
    except (ValueError, OverflowError):
        raise _out_of_range(name, type) from None
    raise Unreadable(f"wrong form for `{name}`, which is {type}")


def write(punctuation: Punctuation) -> str:
    """Deterministic: columns by name, lists in order."""
    columns = (f"{json.dumps(name)}: {_written(pattern)}" for name, pattern in punctuation.patterns)
    return "{" + ", ".join(columns) + "}"


def _written(pattern: Pattern) -> str:
    match pattern:
        case Constant(value):
            return _scalar(value)
        case Listed(values):
            return "[" + ", ".join(_scalar(value) for value in sorted(values, key=rank)) + "]"
        case Empty():
            return "[]"
        case Wildcard() | Range(low=None, high=None):
            raise ValueError(f"{pattern} has no JSON form")
        case Range(low, high, low_open, high_open):
            ends = (("gt" if low_open else "ge", low), ("lt" if high_open else "le", high))
            return "{" + ", ".join(f'"{key}": {_scalar(end)}' for key, end in ends if end is not None) + "}"


def _scalar(value: Value) -> str:
    match value:
        case Decimal() if value.is_finite():
            return str(value)
        case datetime():
            return json.dumps(value.isoformat().replace("+00:00", "Z"))
        case date():
            return json.dumps(value.isoformat())
        case Decimal():
            raise ValueError(f"{value} has no JSON form")
        case _:
            return json.dumps(value, allow_nan=False)
