"""The aggregate functions by their definitions, over all values of a group at once, under SQL's rules for NULL.

Where Spark leaves a choice this is the one that is taken: lists and sets are sorted, of equal candidates the least
value is the mode, and the greatest (MAX_BY) or least (MIN_BY) the one chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from math import ceil, floor, sqrt
from operator import and_, or_, xor
from statistics import fmean
from typing import Any, TypeAlias

from caesura.plan import Aggregate
from caesura.punctuation import rank
from caesura.types import Type

Arguments: TypeAlias = tuple[Any, ...]
"""Of one row: a value for each argument of the function."""


def result(aggregate: Aggregate, rows: Sequence[Arguments]) -> object:
    """A row counts if all its arguments are there; what MAX_BY and MIN_BY choose may be NULL."""
    if aggregate.function in _BY:
        return _BY[aggregate.function]((row for row in rows if row[1] is not None), key=_chosen, default=(None,))[
            0
        ]
    there = [row for row in rows if None not in row]
    if aggregate.function in _OF_ROWS:
        return _OF_ROWS[aggregate.function](there)
    values = sorted((row[0] for row in there), key=_place)
    if not values:
        return () if aggregate.function in _LISTS else None
    if aggregate.percentages:
        found = tuple(_PERCENTILES[aggregate.function](values, p) for p in aggregate.percentages)
        return found if aggregate.result.type.kind == "ARRAY" else found[0]
    return _rounded((_OF_VALUES | _LISTS)[aggregate.function](values), aggregate.result.type)


def _place(value: Any) -> Any:
    return rank(value) or ("NULL", False, 0)


def _distinct(values: Sequence[Any]) -> list[Any]:
    return list({_place(value): value for value in reversed(values)}.values())[::-1]


def _rounded(value: object, type: Type) -> object:
    """A decimal has the digits of its type."""
    if type.kind != "DECIMAL" or not isinstance(value, Decimal):
        return value
    scale = int(type.sql.removesuffix(")").split(",")[1])
    return value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)


def _moment(values: Sequence[Any], power: int) -> float:
    mean = fmean(values)
    return sum((float(value) - mean) ** power for value in values)


def _product(rows: Sequence[Arguments]) -> float:
    """The sum of products about both means."""
    x, y = (fmean(row[i] for row in rows) for i in (0, 1))
    return sum((float(row[0]) - x) * (float(row[1]) - y) for row in rows)


def _correlation(rows: Sequence[Arguments]) -> float | None:
    if not rows:
        return None
    spread = sqrt(_moment([row[0] for row in rows], 2) * _moment([row[1] for row in rows], 2))
    return _product(rows) / spread if spread else None


def _shape(power: int, less: int) -> Callable[[Sequence[Any]], float | None]:
    def standardised(values: Sequence[Any]) -> float | None:
        m2 = _moment(values, 2) / len(values)
        return _moment(values, power) / len(values) / m2 ** (power / 2) - less if m2 else None

    return standardised


def _sample(total: float, count: int) -> float | None:
    return total / (count - 1) if count > 1 else None


def _root(value: float | None) -> float | None:
    return None if value is None else sqrt(value)


def _continuous(values: Sequence[Any], percentage: float) -> float:
    place = (len(values) - 1) * percentage
    low, high = float(values[floor(place)]), float(values[ceil(place)])
    return low if floor(place) == ceil(place) else (ceil(place) - place) * low + (place - floor(place)) * high


def _discrete(values: Sequence[Any], percentage: float) -> float:
    """The first value at or below which so many are."""
    return float(values[max(ceil(len(values) * percentage) - 1, 0)])


def _mode(values: Sequence[Any]) -> Any:
    counts = Counter(map(_place, values))
    return max(values, key=lambda value: counts[_place(value)])


def _chosen(row: Arguments) -> Any:
    """By its second argument, then by its first; NULL comes before all else."""
    value, by = row
    return rank(by), value is not None, _place(value)


def _total(values: Sequence[Any]) -> Any:
    return sum(values[1:], values[0])


_BY: dict[str, Callable[..., Arguments]] = {"MAX_BY": max, "MIN_BY": min}
_OF_ROWS: dict[str, Callable[[Sequence[Arguments]], object]] = {
    "COUNT": len,
    "COUNT_IF": lambda rows: sum(row[0] for row in rows),
    "COUNT DISTINCT": lambda rows: len({tuple(map(_place, row)) for row in rows}),
    "APPROX_COUNT_DISTINCT": lambda rows: len({tuple(map(_place, row)) for row in rows}),
    "COVAR_POP": lambda rows: _product(rows) / len(rows) if rows else None,
    "COVAR_SAMP": lambda rows: _sample(_product(rows), len(rows)) if rows else None,
    "CORR": _correlation,
}
_OF_VALUES: dict[str, Callable[[Sequence[Any]], object]] = {
    "SUM": _total,
    "AVG": lambda values: _total(values) / len(values),
    "MIN": lambda values: values[0],
    "MAX": lambda values: values[-1],
    "ANY_VALUE": lambda values: values[0],
    "BOOL_AND": all,
    "BOOL_OR": any,
    "BIT_AND": lambda values: reduce(and_, values),
    "BIT_OR": lambda values: reduce(or_, values),
    "BIT_XOR": lambda values: reduce(xor, values),
    "VAR_POP": lambda values: _moment(values, 2) / len(values),
    "VAR_SAMP": lambda values: _sample(_moment(values, 2), len(values)),
    "STDDEV_POP": lambda values: sqrt(_moment(values, 2) / len(values)),
    "STDDEV_SAMP": lambda values: _root(_sample(_moment(values, 2), len(values))),
    "SKEWNESS": _shape(3, 0),
    "KURTOSIS": _shape(4, 3),
    "SUM DISTINCT": lambda values: _total(_distinct(values)),
    "AVG DISTINCT": lambda values: _total(_distinct(values)) / len(_distinct(values)),
    "MODE": _mode,
    "MEDIAN": lambda values: _continuous(values, 0.5),
}
_LISTS: dict[str, Callable[[Sequence[Any]], object]] = {
    "COLLECT_LIST": tuple,
    "COLLECT_SET": lambda values: tuple(_distinct(values)),
}
_PERCENTILES: dict[str, Callable[[Sequence[Any], float], float]] = {
    "PERCENTILE": _continuous,
    "PERCENTILE_CONT": _continuous,
    "PERCENTILE_DISC": _discrete,
}
