"""SUM, COUNT, MIN, MAX and AVG as partial aggregates that merge (distributive and algebraic functions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from caesura.catalog import Column
from caesura.operators.group import Partial
from caesura.operators.rows import quote
from caesura.plan import Aggregate
from caesura.types import BIGINT, Type

_MAX_PRECISION = 38


def partials_of(aggregate: Aggregate, types: Mapping[str, Type]) -> tuple[Partial, ...]:
    name, argument = aggregate.result.name, "*" if aggregate.argument is None else quote(aggregate.argument)
    match aggregate.function:
        case "SUM":
            return (_sum(name, argument, aggregate.result.type),)
        case "COUNT":
            return (_count(name, argument),)
        case "MIN" | "MAX" as function:
            merge = f"{function}({quote(name)})"
            return (Partial(aggregate.result, f"{function}({argument})", merge),)
        case "AVG":
            assert aggregate.argument is not None
            total = _sum(f"{name} sum", argument, _sum_type(types[aggregate.argument]))
            return (total, _count(f"{name} count", argument))
        case _ as never:
            assert_never(never)


def result_of(aggregate: Aggregate) -> str:
    name = aggregate.result.name
    match aggregate.function:
        case "SUM" | "MIN" | "MAX":
            return quote(name)
        case "COUNT":
            return f"coalesce({quote(name)}, 0L)"
        case "AVG":
            return f"CAST(try_divide({quote(f'{name} sum')}, {quote(f'{name} count')}) AS {aggregate.result.type})"
        case _ as never:
            assert_never(never)


def _sum(name: str, argument: str, type: Type) -> Partial:
    merge = f"CAST(sum({quote(name)}) AS {type})"
    return Partial(Column(name, type), f"CAST(sum({argument}) AS {type})", merge)


def _count(name: str, argument: str) -> Partial:
    return Partial(Column(name, BIGINT), f"count({argument})", f"sum({quote(name)})")


def _sum_type(type: Type) -> Type:
    """As in Spark: decimals with ten more digits, all else as a double."""
    if type.kind != "DECIMAL":
        return Type("DOUBLE")
    precision, scale = type.sql.removeprefix("DECIMAL(").removesuffix(")").split(",")
    return Type(f"DECIMAL({min(_MAX_PRECISION, int(precision) + 10)}, {int(scale)})")
