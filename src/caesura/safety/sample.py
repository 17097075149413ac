"""Values for the columns of a witness: different for each row, within what checks and filters allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from sqlglot import exp

from caesura.catalog import Interval, Stream
from caesura.expression import Expr, columns_of, shown
from caesura.plan import Filter, Join, Plan, Session, walk
from caesura.safety.bases import bases
from caesura.safety.equality import equality_classes, matching_classes
from caesura.safety.names import scans
from caesura.safety.predicates import conjuncts
from caesura.types import BITS, Type

Cell: TypeAlias = bool | int | float | str | None

_START = datetime(2024, 1, 1)
_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_MANY = 1_000_000


@dataclass(frozen=True)
class Sample:
    """The values of one column: those of `chosen` in turn, or those of the type between `low` and `high`; times
    are so far `apart`."""

    type: Type
    low: int | None = None
    high: int | None = None
    chosen: tuple[Cell, ...] = ()
    apart: timedelta = _SECOND

    def value(self, k: int) -> Cell:
        """The k-th value, counted from one."""
        if self.chosen:
            return self.chosen[(k - 1) % len(self.chosen)]
        match self.type:
            case Type(numeric=True):
                return self._number(k)
            case Type(kind="DATE"):
                return (_START.date() + timedelta(days=k)).isoformat()
            case Type(temporal=True):
                zone = "Z" if self.type.kind == "TIMESTAMP" else ""
                return f"{(_START + k * self.apart).isoformat()}{zone}"
            case Type(text=True):
                return f"key {k}"
            case Type(boolean=True):
                return k % 2 == 1
            case _:
                return None

    def _number(self, k: int) -> int:
        greatest = 2 ** BITS.get(self.type.kind, 31) - 1
        high = greatest if self.high is None else self.high
        usual = 1 if self.high is None else max(self.high - _MANY, -greatest)
        low = usual if self.low is None else self.low
        return low + (k - 1) % max(high - low + 1, 1)


@dataclass(frozen=True)
class Samples:
    """Stream → column → its values; `ignored` are conditions on them that were not taken into account."""

    columns: Mapping[str, Mapping[str, Sample]]
    ignored: tuple[str, ...] = ()


def samples(plan: Plan, streams: Iterable[Stream]) -> Samples:
    """Values as the streams' own checks and the filters of the plan allow."""
    heard = list(streams)
    fixed = dict(_fixed(plan))
    gaps = {_length(node.gap.tree): node.gap.tree for node in walk(plan) if isinstance(node, Session)}
    apart = max((length + _SECOND for length in gaps if length <= _DAY), default=_SECOND)
    found = {s.name: {c.name: Sample(c.type, apart=apart) for c in s.columns} for s in heard}
    ignored = [
        f"rows within {shown(gap)} of each other are one session" for length, gap in gaps.items() if length > _DAY
    ]
    for stream in heard:
        for check in stream.checks:
            own = {column.name: [(stream.name, column.name)] for column in stream.columns}
            ignored += _narrow(found, check.condition, own)
    for node in walk(plan):
        if isinstance(node, Filter):
            carried = {
                name: [(stream.name, column) for stream, column in bases(node.input, name, through_order=False)]
                for name in node.predicate.columns
            }
            ignored += _narrow(found, node.predicate, carried)
    for scan in scans(plan):
        if scan.relation not in heard:
            continue
        for column in scan.relation.columns:
            constant = fixed.get(f"{scan.alias}.{column.name}")
            if constant is not None:
                found[scan.relation.name][column.name] = Sample(column.type, chosen=(constant,))
    return Samples(found, tuple(dict.fromkeys(ignored)))


def _length(gap: exp.Expr) -> timedelta:
    """Of an interval, as the binder spells it."""
    return timedelta(microseconds=Interval(f"INTERVAL {gap.name} {gap.args['unit'].name}").microseconds)


def _narrow(
    found: dict[str, dict[str, Sample]], condition: Expr, carried: Mapping[str, list[tuple[str, str]]]
) -> Iterator[str]:
    """Take a condition into account, as far as it is understood; the rest is returned."""
    for conjunct in conjuncts(condition.tree):
        names = columns_of(conjunct)
        spoken = [base for name in names for base in carried.get(name, ())]
        told = [base for base in spoken if base[0] in found]
        if spoken and not told:
            continue  # of streams that say nothing
        if not _understood(conjunct) or len(told) < len(names):
            yield shown(conjunct)
            continue
        for stream, column in told:
            mine = {name for name in names if (stream, column) in carried[name]}
            found[stream][column] = _narrowed(found[stream][column], conjunct, mine)


def _understood(conjunct: exp.Expr) -> bool:
    match conjunct:
        case exp.Not(this=exp.Is(this=exp.Column(), expression=exp.Null())):
            return True
        case exp.In(this=exp.Column(), expressions=[_, *_] as values):
            return None not in map(_literal, values)
        case exp.Between(this=exp.Column()):
            return all(isinstance(_literal(conjunct.args[end]), int | float) for end in ("low", "high"))
        case exp.EQ() | exp.GTE() | exp.LTE():  # the k-th values of two columns of one type are equal
            sides = (conjunct.left, conjunct.right)
            if all(isinstance(side, exp.Column) for side in sides):
                return True
            return _compares_number(conjunct) or (isinstance(conjunct, exp.EQ) and _names_literal(conjunct))
        case exp.GT() | exp.LT():
            return _compares_number(conjunct)
        case _:
            return False


def _compares_number(conjunct: exp.Binary) -> bool:
    sides = (conjunct.left, conjunct.right)
    numbers = [side for side in sides if isinstance(_literal(side), int | float)]
    return len(numbers) == 1 and any(isinstance(side, exp.Column) for side in sides)


def _names_literal(conjunct: exp.Binary) -> bool:
    sides = (conjunct.left, conjunct.right)
    return any(isinstance(s, exp.Column) for s in sides) and any(_literal(s) is not None for s in sides)


def _fixed(plan: Plan) -> Iterator[tuple[str, Cell]]:
    """Columns that a predicate, or an equality with such a column, fixes to a constant."""
    for node in walk(plan):
        for each in matching_classes(node) if isinstance(node, Join) else equality_classes(node):
            if each.constant is not None:
                value = _literal(each.constant.tree)
                yield from ((column, value) for column in each.columns)


def _narrowed(sample: Sample, predicate: exp.Expr, names: set[str]) -> Sample:
    for conjunct in conjuncts(predicate):
        match conjunct:
            case exp.In(this=exp.Column() as column, expressions=list() as values) if column.name in names:
                sample = replace(sample, chosen=tuple(map(_literal, values)))
            case exp.Between(this=exp.Column() as column) if column.name in names:
                sample = _between(sample, _literal(conjunct.args["low"]), _literal(conjunct.args["high"]))
            case exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
                sample = _compared(sample, conjunct, names)
            case _:
                pass
    return sample


def _compared(sample: Sample, conjunct: exp.Binary, names: set[str]) -> Sample:
    greater = isinstance(conjunct, exp.GT | exp.GTE)
    strict = isinstance(conjunct, exp.GT | exp.LT)
    left, right = conjunct.left, conjunct.right
    if isinstance(right, exp.Column):
        left, right, greater = right, left, not greater
    bound = _literal(right)
    if not isinstance(left, exp.Column) or left.name not in names or not isinstance(bound, int | float):
        return sample
    if greater:
        return _between(sample, math.floor(bound) + 1 if strict else math.ceil(bound), None)
    return _between(sample, None, math.ceil(bound) - 1 if strict else math.floor(bound))


def _between(sample: Sample, low: Cell, high: Cell) -> Sample:
    lows = [math.ceil(each) for each in (sample.low, low) if isinstance(each, int | float)]
    highs = [math.floor(each) for each in (sample.high, high) if isinstance(each, int | float)]
    return replace(sample, low=max(lows, default=None), high=min(highs, default=None))


def _literal(tree: exp.Expr) -> Cell:
    """The value of a literal; None for what is no literal."""
    match tree:
        case exp.Paren() | exp.Cast():
            return _literal(tree.this)
        case exp.Neg():
            value = _literal(tree.this)
            return -value if isinstance(value, int | float) else None
        case exp.Boolean():
            return bool(tree.this)
        case exp.Literal(is_string=True):
            return str(tree.this)
        case exp.Literal():
            return int(tree.name) if tree.is_int else float(tree.name)
        case _:
            return None
