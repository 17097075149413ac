"""The logical plan: frozen nodes, one closed union.

Column names are unique within a node. Under an alias a column is called `alias.column`; the outermost
projection gives the user's names. Equal nodes are one node: a derived stream that two queries read is the
same sub-plan in both, and so one operator with one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from caesura.catalog import Catalog, Column, Interval, Relation, Sink, Stream
from caesura.diagnostics import Source, Span
from caesura.expression import Expr

AggregateFunction: TypeAlias = Literal["SUM", "COUNT", "MIN", "MAX", "AVG"]


@dataclass(frozen=True)
class Scan:
    """All columns of a stream or table, each called `alias.column`."""

    relation: Relation
    alias: str
    window: Interval | None = None
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(f"{self.alias}.{c.name}", c.type) for c in self.relation.columns)


@dataclass(frozen=True)
class Filter:
    input: Plan
    predicate: Expr
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Output:
    """One column of a projection."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class Project:
    input: Plan
    outputs: tuple[Output, ...]
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(o.name, o.expr.type) for o in self.outputs)

    @cached_property
    def renames(self) -> dict[str, str]:
        """Input column → the output column that carries it unchanged (the first, if several do)."""
        renames: dict[str, str] = {}
        for output in self.outputs:
            if output.expr.column is not None:
                renames.setdefault(output.expr.column, output.name)
        return renames


@dataclass(frozen=True)
class Equality:
    """`left = right` between columns of two different inputs of a join."""

    left: str
    right: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Join:
    """Inner join of n inputs: all equalities between inputs, then whatever else the predicate says."""

    inputs: tuple[Plan, ...]
    equalities: tuple[Equality, ...]
    residual: Expr | None = None
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for plan in self.inputs for column in plan.columns)


@dataclass(frozen=True)
class Aggregate:
    """`result` is the function over the input column `argument`; COUNT(*) has no argument."""

    result: Column
    function: AggregateFunction
    argument: str | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Group:
    """Groups by plain columns; expressions are computed by a projection below."""

    input: Plan
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        keys = tuple(column for name in self.keys for column in self.input.columns if column.name == name)
        return keys + tuple(aggregate.result for aggregate in self.aggregates)


Plan: TypeAlias = Scan | Filter | Project | Join | Group


def inputs(plan: Plan) -> tuple[Plan, ...]:
    match plan:
        case Scan():
            return ()
        case Join(inputs=several):
            return several
        case Filter(input=one) | Project(input=one) | Group(input=one):
            return (one,)


def walk(plan: Plan) -> Iterator[Plan]:
    """Every node once, inputs before the nodes that read them."""
    seen: set[Plan] = set()

    def visit(node: Plan) -> Iterator[Plan]:
        if node in seen:
            return
        for below in inputs(node):
            yield from visit(below)
        seen.add(node)
        yield node

    yield from visit(plan)


def endless(plan: Plan) -> bool:
    """Whether new rows may still come: some input is a stream."""
    return any(isinstance(node, Scan) and isinstance(node.relation, Stream) for node in walk(plan))


@dataclass(frozen=True)
class Query:
    """A named plan. `sink` is None for a bare SELECT, which prints, and for a derived stream."""

    name: str
    plan: Plan
    kind: Literal["insert", "select", "stream"]
    sink: Sink | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Pipeline:
    """All that one file declares and asks for."""

    source: Source
    catalog: Catalog
    queries: tuple[Query, ...]
