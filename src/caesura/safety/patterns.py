"""Which patterns of `date_format` write later times as greater texts."""

from __future__ import annotations

import re

# Each character of a pattern is in one of these.
_PARTS = re.compile(r"(?P<field>([A-Za-z])\2*)|(?P<quoted>'[^']*')|(?P<open>')|(?P<other>[^A-Za-z'])", re.DOTALL)
_ORDER = ("yyyy", "MM", "dd", "HH", "mm", "ss")
"""The greater before the lesser, each with as many digits as it ever needs. A fraction of a second may follow."""
_NAMES = {"y": "year", "M": "month", "L": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
_RESERVED = "[]{}#"
_DIGITS = 9  # of a fraction of a second


def disorder(pattern: str) -> str | None:
    """Why texts of this pattern are not in the order of the times; None if they are."""
    place = 0
    for part in _PARTS.finditer(pattern):
        field, other = part["field"], part["other"]
        if part["open"]:
            return "a quote in it is not closed"
        if other is not None and other in _RESERVED:
            return f"`{other}` is no separator"
        if field is None:
            continue
        if field.strip("S") == "" and place == len(_ORDER):
            if len(field) > _DIGITS:
                return f"`{field}` has more than {_DIGITS} digits, and Spark writes no more"
            place += 1
            continue
        if place >= len(_ORDER) or field != _ORDER[place]:
            return _misplaced(field, place)
        place += 1
    return None if place else "it does not write the year"


def _misplaced(field: str, place: int) -> str:
    letter = field[0]
    expected = _ORDER[place] if place < len(_ORDER) else None
    if expected is not None and letter == expected[0]:
        return f"`{field}` does not write every {_NAMES[letter]} with {len(expected)} digits; `{expected}` does"
    if place == 0:
        return f"`{field}` comes before the year"
    if expected is not None and letter in _NAMES:
        return f"`{field}` comes before the {_NAMES[expected[0]]}"
    return f"`{field}` does not follow the order of time"
