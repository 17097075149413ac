"""Joins that keep synopses, compiled: what each input keeps, and what readers get instead of all columns.

Where the only reader is a grouping, by way of projections, it gets what it takes together already taken together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from caesura import plan
from caesura.catalog import Column
from caesura.expression import Expr
from caesura.operators.group import Partial
from caesura.operators.rows import quote
from caesura.operators.synopsis import Given, Synopsis
from caesura.safety.comparisons import Interval
from caesura.safety.predicates import all_of
from caesura.safety.said import limits
from caesura.safety.synopsis import Extreme, Key, Pushed, Summary
from caesura.safety.synopsis import Synopsis as Proof
from caesura.spark.aggregates import partial_of, scaled, weighted
from caesura.types import BIGINT, BOOLEAN, Type

_SMALL = 10_000
"""A synopsis of so many rows, at its largest, is kept in one place."""
_TIMES = "how often"
"""The column that says how many rows of the join a row stands for."""


@dataclass(frozen=True)
class Summed:
    """An inner join of which some inputs keep a synopsis."""

    join: plan.Join
    summary: Summary
    using: Mapping[int, Proof]

    @property
    def need(self) -> plan.Need:
        assert self.join.need is not None, "a join that keeps synopses knows what is needed of it"
        return self.join.need

    @cached_property
    def types(self) -> Mapping[str, Type]:
        return plan.types_of(*self.join.inputs)

    @property
    def counted(self) -> bool:
        """Whether it is told how often a row occurs."""
        return self.need.duplicates

    def number(self, i: int) -> str:
        """The column that counts the rows of an input."""
        return f"rows of input {i + 1}"

    def condition(self) -> Expr | None:
        """What has to be asked where rows meet, besides equalities."""
        return all_of(self.summary.said)

    def columns(self, i: int) -> tuple[Column, ...]:
        """What is known of an input."""
        below = self.join.inputs[i].columns
        if i not in self.using:
            return below
        proof = self.using[i]
        own = tuple(each for each in below if each.name in proof.columns)
        if proof.greatest or proof.least:
            return own
        partials = (partial.column for partial in self._partials(i))
        return (*own, Column(self.number(i), BIGINT), *partials)

    def able(self, i: int) -> Iterator[str]:
        """What all conditions together demand of a row of the input."""
        if i in self.using and self.using[i].empty:
            yield "false"
        for column in self.join.inputs[i].columns:
            if column.name in self.summary.intervals:
                yield from _within(self.summary.intervals[column.name], column)
            if column.name in self.summary.lists:
                yield Expr(self.summary.lists[column.name], BOOLEAN).sql

    def synopsis(self, i: int) -> Synopsis | None:
        proof = self.using.get(i)
        if proof is None:
            return None
        keys = {key.column: _clamped(key, self.types[key.column]) for key in proof.keys}
        ends = {key.column: key for key in proof.keys}
        return Synopsis(
            keys,
            self.number(i),
            {_argument(p, k): expr.sql for p in proof.pushed for k, expr in enumerate(p.over)},
            tuple(self._partials(i)),
            tuple(column.name for column in self.columns(i)),
            tuple(f"array({quote(x)} < {quote(y)}, {quote(x)} = {quote(y)})" for x, y in proof.ordered),
            _extreme("least", proof.greatest, ends, self.types),
            _extreme("greatest", proof.least, ends, self.types),
            small=proof.bound is not None and proof.bound <= _SMALL,
        )

    def _partials(self, i: int) -> Iterator[Partial]:
        """What is kept of each combination for the grouping above."""
        found: dict[str, Partial] = {}
        for pushed in self.using[i].pushed:
            over = replace(
                pushed.aggregate, arguments=tuple(_argument(pushed, k) for k in range(len(pushed.over)))
            )
            from_rows = partial_of(over, self._arguments(pushed, over.arguments)).from_rows
            partial = self._partial(pushed)
            found.setdefault(partial.column.name, replace(partial, from_rows=from_rows))
        yield from found.values()

    def _partial(self, pushed: Pushed) -> Partial:
        return partial_of(pushed.aggregate, self._arguments(pushed, pushed.aggregate.arguments))

    def _arguments(self, pushed: Pushed, names: tuple[str, ...]) -> dict[str, Type]:
        return {name: expr.type for name, expr in zip(names, pushed.over, strict=True)}

    @property
    def grouped(self) -> bool:
        """Whether the one reader is a grouping that takes rows as often as they count."""
        return bool(self.need.aggregates)

    def _times(self, without: int | None = None) -> str:
        numbers = [quote(self.number(i)) for i in sorted(self.using) if i != without and self.counted]
        return " * ".join(numbers) or "1L"

    @cached_property
    def pushed(self) -> dict[str, str]:
        """State of an aggregate above the join → SQL over what inputs know."""
        found: dict[str, str] = {}
        for i, proof in self.using.items():
            for each in proof.pushed:
                types = self._arguments(each, each.aggregate.arguments)
                state = scaled(each.aggregate, types, f"({self._times(without=i)})") if self.counted else None
                name = self._partial(each).column.name
                found[name] = state or quote(name)
        return found

    @cached_property
    def given(self) -> Given:
        known = {each.name for i in range(len(self.join.inputs)) for each in self.columns(i)}
        needed = [each.name for each in self.join.columns if each.name in self.need.exactly.columns & known]
        outputs = {name: quote(name) for name in needed}
        if not self.grouped:
            return Given(outputs, self._times() if self.counted else None)
        return Given({**outputs, **self.pushed, **({_TIMES: self._times()} if self.counted else {})})

    def passed(self, outputs: Mapping[str, Expr]) -> dict[str, str]:
        """What a projection between the join and the grouping gives: all that it can compute, and what is known
        already."""
        known = self.given.outputs
        computed = {name: expr.sql for name, expr in outputs.items() if expr.columns <= known.keys()}
        taken = [name for name in (*self.pushed, _TIMES) if name in known]
        return {**computed, **{name: quote(name) for name in taken}}

    def partial(self, aggregate: plan.Aggregate, types: Mapping[str, Type]) -> Partial:
        """What the grouping keeps for an aggregate, from rows as they come here."""
        partial = partial_of(aggregate, types)
        if partial.column.name in self.pushed:
            return replace(partial, from_rows=partial.merge)
        if not self.counted:
            return partial
        return replace(partial, from_rows=weighted(aggregate, types, quote(_TIMES)))


def taking(nodes: Iterable[plan.Plan], joins: Mapping[plan.Join, Summed]) -> dict[plan.Plan, Summed]:
    """Groupings, and the projections below them, that take together what a join with synopses knows."""
    found: dict[plan.Plan, Summed] = {}
    for node in nodes:
        if isinstance(node, plan.Group):
            below = [node.input]
            while isinstance(last := below[-1], plan.Project):
                below.append(last.input)
            summed = joins.get(last) if isinstance(last, plan.Join) else None
            if summed is not None and summed.grouped:
                found |= dict.fromkeys((node, *below[:-1]), summed)
    return found


def _argument(pushed: Pushed, k: int) -> str:
    return f"argument {k + 1} of {pushed.aggregate.result.name}"


def _within(interval: Interval, column: Column) -> Iterator[str]:
    """The conditions that a column lies in an interval, as far as its type has values outside."""
    least, greatest = limits(column.type)
    if interval.low is not None and interval.low > least:
        there = interval.low <= greatest
        yield f"{quote(column.name)} >= {_literal(interval.low, column.type)}" if there else "false"
    if interval.high is not None and interval.high < greatest:
        there = interval.high >= least
        yield f"{quote(column.name)} <= {_literal(interval.high, column.type)}" if there else "false"


def _literal(number: int, type: Type) -> str:
    """A value of the type as SQL."""
    if type.kind == "DATE":
        return f"DATE '{date.fromordinal(number).isoformat()}'"
    return f"CAST('{number}' AS {type})"


def _end(number: int | None, type: Type) -> str | None:
    """The same; None if there is no end, or the type has no such value."""
    if number is None:
        return None
    least, greatest = limits(type)
    return _literal(number, type) if least <= number <= greatest else None


def _clamped(key: Key, type: Type) -> str:
    sql = quote(key.column)
    for end, choose in ((key.low, "greatest"), (key.high, "least")):
        if (literal := _end(end, type)) is not None:
            sql = f"{choose}({sql}, {literal})"
    return sql


def _extreme(
    choose: str, extremes: tuple[Extreme, ...], ends: Mapping[str, Key], types: Mapping[str, Type]
) -> str | None:
    """By what one row is chosen: of several columns that count, the one that decides. NULL where none counts."""
    if not extremes:
        return None
    terms = [_counting(each, ends.get(each.column), types[each.column]) for each in extremes]
    return terms[0] if len(terms) == 1 else f"{choose}({', '.join(terms)})"


def _counting(extreme: Extreme, key: Key | None, type: Type) -> str:
    """The column where it lies beyond the constants, on a side where it is compared with what lies there too."""
    name = quote(extreme.column)
    if key is None:
        return name
    beyond = [
        f"{name} {sign} {literal}"
        for end, sign, counts in ((key.low, "<=", extreme.below), (key.high, ">=", extreme.above))
        if counts and (literal := _end(end, type)) is not None
    ]
    return f"IF({' OR '.join(beyond) or 'false'}, {name}, NULL)"
