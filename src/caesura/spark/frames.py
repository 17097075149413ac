"""OVER as SQL: what rows of a partition leave for frames without a beginning, and the windows of all frames.

The windows are over rows of all turns (`operators.frame`): first the partial results of all rows that are out,
then such rows themselves, then those that are due. Only frames without a beginning take the first, and only these
pass over the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from caesura import plan
from caesura.catalog import UNITS, Column, Interval
from caesura.operators.frame import PLACE, TURN, Frame, Piece
from caesura.operators.intervals import number
from caesura.operators.operator import StateTable
from caesura.operators.rows import quote
from caesura.operators.sort import spelled
from caesura.operators.store import Store
from caesura.plan import Framed, types_of
from caesura.spark.aggregates import sum_type
from caesura.types import BIGINT, Type

_FARTHEST = 2**62
"""In microseconds: no two times are further apart."""
_OUT_OR_DUE = f"{quote(TURN)} > 0"


def framed(
    node: plan.Frame, label: str, released: Store, passed: Store | None, *, passing: bool, eager: bool
) -> Frame:
    """`passing`: whether rows go out by their time. Else they wait for the end of their partition, and none that
    is out is ever looked at again."""
    types = types_of(node.input)
    time = types[node.order[0].column]
    back = [each for each in node.functions if each.reaches_back] if passing else []
    pieces = dict.fromkeys(piece for each in node.functions for piece in _pieces(each, types))
    partition = tuple(Column(name, types[name]) for name in node.partition)
    partial = dict.fromkeys((*partition, Column(node.order[0].column, time), *(p.column for p in pieces)))
    rows_back = max((_count(each) for each in back if each.unit == "rows" and each.preceding), default=0)
    ranges = [each.preceding for each in back if each.unit == "range" and each.preceding]
    far = max((_distance(each, time) for each in ranges), default=0)
    return Frame(
        waiting=StateTable(label, node.input.columns, eager=eager),
        recent=StateTable(f"{label}: out", node.input.columns, eager=eager) if rows_back or far else None,
        earlier=StateTable(f"{label}: totals", tuple(partial), eager=eager) if passing and pieces else None,
        partition=node.partition,
        places=node.places,
        pieces=tuple(pieces),
        results={each.result.name: _Windows(node, time).sql(each, types) for each in node.functions},
        rows_back=rows_back,
        time_back=_later(node.order[0].column, time, far) if far else None,
        released=released,
        passed=passed,
        passing=passing,
    )


def _pieces(each: Framed, types: Mapping[str, Type]) -> Iterable[Piece]:
    """What is kept for a frame without a beginning, however many rows it has."""
    if each.preceding is not None:
        return ()
    given = [quote(name) for name in each.arguments]
    of = f"of {' and '.join(each.arguments) or 'rows'}"
    match each.function:
        case "COUNT":
            there = " AND ".join(f"{name} IS NOT NULL" for name in given) or "true"
            return (Piece(Column(f"count {of}", BIGINT), f"IF({there}, 1L, 0L)", "sum"),)
        case "COUNT_IF":
            return (Piece(Column(f"count_if {of}", BIGINT), f"IF({given[0]}, 1L, 0L)", "sum"),)
        case "SUM":
            type = each.result.type
            return (Piece(Column(f"sum {of}", type), f"CAST({given[0]} AS {type})", "sum"),)
        case "AVG":
            summed = Type(sum_type([types[name] for name in each.arguments]))
            count = Piece(Column(f"count {of}", BIGINT), f"IF({given[0]} IS NOT NULL, 1L, 0L)", "sum")
            return (Piece(Column(f"sum for the mean {of}", summed), f"CAST({given[0]} AS {summed})", "sum"), count)
        case "MIN":
            return (Piece(Column(f"min {of}", each.result.type), given[0], "min"),)
        case "MAX":
            return (Piece(Column(f"max {of}", each.result.type), given[0], "max"),)
        case "FIRST_VALUE" | "LAST_VALUE" as function:
            known = " that is there" if each.ignore_nulls else ""
            word: Literal["first", "last"] = "first" if function == "FIRST_VALUE" else "last"
            column = Column(f"{word}{known} {of}", Type(f"STRUCT<v: {each.result.type}>"))
            return (Piece(column, _chosen(each), word),)
        case function:
            raise ValueError(f"no frame has {function}")


def _chosen(each: Framed) -> str:
    """A value, which may be NULL, as one that is not, if it is to be chosen."""
    (name,) = map(quote, each.arguments)
    value = f"named_struct('v', {name})"
    return f"IF({name} IS NULL, NULL, {value})" if each.ignore_nulls else value


class _Windows:
    def __init__(self, node: plan.Frame, time: Type) -> None:
        self._node = node
        self._time = time

    def sql(self, each: Framed, types: Mapping[str, Type]) -> str:
        given = ", ".join(map(quote, each.arguments))
        type = each.result.type
        if each.preceding is None:
            return self._running(each, types)
        if each.function == "LAG":
            value, *otherwise = map(quote, each.arguments)
            listed = ", ".join((value, str(each.preceding), *otherwise))
            return f"lag({listed}) OVER ({self._apart()} ORDER BY {quote(PLACE)})"
        over = f"OVER ({self._bounded(each)})"
        match each.function:
            case "FIRST_VALUE" | "LAST_VALUE" as function:
                chosen = "min_by" if function == "FIRST_VALUE" else "max_by"
                value = _chosen(each)
                return f"({chosen}({value}, IF({value} IS NULL, NULL, {quote(PLACE)})) {over}).v"
            case "COUNT":
                return f"count({given or '*'}) {over}"
            case function:
                return f"CAST({function.lower()}({given}) {over} AS {type})"

    def _running(self, each: Framed, types: Mapping[str, Type]) -> str:
        first, *others = (
            f"CAST({piece.folded(PLACE)} OVER ({self._whole(each)}) AS {piece.column.type})"
            for piece in _pieces(each, types)
        )
        match each.function:
            case "COUNT" | "COUNT_IF":
                return f"coalesce({first}, 0L)"
            case "AVG":
                return f"CAST(try_divide({first}, {others[0]}) AS {each.result.type})"
            case "FIRST_VALUE" | "LAST_VALUE":
                return f"({first}).v"
            case _:
                return first

    def _whole(self, each: Framed) -> str:
        names = ", ".join(map(quote, self._node.partition))
        order = quote(PLACE) if each.unit == "rows" else ", ".join((_OUT_OR_DUE, *map(spelled, self._node.order)))
        partition = f"PARTITION BY {names} " if names else ""
        return f"{partition}ORDER BY {order} {each.unit.upper()} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

    def _bounded(self, each: Framed) -> str:
        match each.unit, each.preceding:
            case "rows", count:
                frame = f"ROWS BETWEEN {count} PRECEDING AND CURRENT ROW"
                return f"{self._apart()} ORDER BY {quote(PLACE)} {frame}"
            case _, 0 | None:
                keys = ", ".join(map(spelled, self._node.order))
                return f"{self._apart()} ORDER BY {keys} RANGE BETWEEN CURRENT ROW AND CURRENT ROW"
            case _, distance:
                time = _exact(quote(self._node.order[0].column), self._time)
                far = f"CAST({_distance(distance, self._time)} AS {_exact_type(self._time)})"
                return f"{self._apart()} ORDER BY {time} RANGE BETWEEN {far} PRECEDING AND CURRENT ROW"

    def _apart(self) -> str:
        """Apart from partial results."""
        return f"PARTITION BY {', '.join((*map(quote, self._node.partition), _OUT_OR_DUE))}"


def _count(each: Framed) -> int:
    assert isinstance(each.preceding, int), "rows are counted"
    return each.preceding


def _distance(far: int | Interval, time: Type) -> int:
    """In days, microseconds, or what else the type counts in."""
    if isinstance(far, int):
        return far
    if time.kind == "DATE":
        return far.microseconds // UNITS["DAY"]
    return min(far.microseconds, _FARTHEST)


def _number(value: str, type: Type) -> str:
    match type.kind:
        case "TIMESTAMP":
            return f"unix_micros({value})"
        case "TIMESTAMP_NTZ":  # in a time zone some are missing, and some come twice
            return f"unix_micros(CAST(concat({value}, 'Z') AS TIMESTAMP))"
        case _:
            return number(value, type)


def _exact_type(type: Type) -> str:
    """In which a distance can be taken from every value."""
    return "DECIMAL(20, 0)" if type.kind == "BIGINT" else "BIGINT"


def _exact(value: str, type: Type) -> str:
    return f"CAST({_number(value, type)} AS {_exact_type(type)})"


def _later(column: str, type: Type, far: int) -> str:
    """So much later; beyond the largest value of a type there is nothing: NULL, which no bound ever passes."""
    moved = f"try_add({_number(quote(column), type)}, {far}L)"
    match type.kind:
        case "TIMESTAMP":
            return f"timestamp_micros({moved})"
        case "TIMESTAMP_NTZ":
            seconds, rest = divmod(far, UNITS["SECOND"])
            return f"try_add({quote(column)}, INTERVAL '{seconds}.{rest:06}' SECOND)"
        case "DATE":
            return f"date_from_unix_date(try_cast({moved} AS INT))"
        case _:
            return f"try_cast({moved} AS {type})"
