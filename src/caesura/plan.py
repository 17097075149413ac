"""The logical plan: frozen nodes, one closed union.

Column names are unique within a node. Under an alias a column is called `alias.column`; the outermost
projection gives the user's names. Equal nodes are one node: a derived stream that two queries read is the
same sub-plan in both, and so one operator with one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

from caesura.catalog import Catalog, Column, Interval, Relation, Sink, Stream
from caesura.diagnostics import Source, Span
from caesura.expression import Expr
from caesura.types import Type

JoinKind: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
Tree: TypeAlias = "int | tuple[Tree, ...]"
"""How a join is taken apart: an input, by its position, or the trees that one join takes together."""
T = TypeVar("T")


def hashed_once(cls: type[T]) -> type[T]:
    """Nodes are the keys of every analysis, and a node's hash takes in all that is below it."""
    computed = cls.__hash__

    def once(self: T) -> int:
        known: dict[str, int] = self.__dict__
        if "hash" not in known:
            known["hash"] = computed(self)
        return known["hash"]

    cls.__hash__ = once  # type: ignore[assignment, method-assign]
    return cls


@hashed_once
@dataclass(frozen=True)
class Scan:
    """All columns of a stream or table, each called `alias.column`.

    `since` is the slice from which it is read: a query that came to a checkpoint later begins there, and shares
    nothing with those that were there before.
    """

    relation: Relation
    alias: str
    window: Interval | None = None
    span: Span | None = field(default=None, compare=False)
    since: int = 0

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(f"{self.alias}.{c.name}", c.type) for c in self.relation.columns)


@hashed_once
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


@hashed_once
@dataclass(frozen=True)
class Project:
    input: Plan
    outputs: tuple[Output, ...]
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(o.name, o.expr.type) for o in self.outputs)

    @cached_property
    def copies(self) -> dict[str, tuple[str, ...]]:
        """Input column → all the output columns that carry it unchanged."""
        copies: dict[str, tuple[str, ...]] = {}
        for output in self.outputs:
            if (column := output.expr.column) is not None:
                copies[column] = (*copies.get(column, ()), output.name)
        return copies


@dataclass(frozen=True)
class Equality:
    """`left = right` between columns of two different inputs of a join."""

    left: str
    right: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Aggregate:
    """`result` is the function of that name (`caesura.aggregates`) over input columns; COUNT(*) has no argument.

    `percentages` are those of a percentile.
    """

    result: Column
    function: str
    arguments: tuple[str, ...] = ()
    percentages: tuple[float, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Argument:
    """An aggregate, and what it is taken over, in the columns of the node whose rows it needs."""

    aggregate: Aggregate
    over: tuple[Expr, ...]

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for each in self.over for name in each.columns)


@dataclass(frozen=True)
class Need:
    """`columns` are needed as they are, `aggregates` only as they go into a grouping above."""

    columns: frozenset[str] = frozenset()
    duplicates: bool = False
    aggregates: tuple[Argument, ...] = ()

    @property
    def exactly(self) -> Need:
        """The same for a node that does not pass aggregates down."""
        taken = frozenset(name for each in self.aggregates for name in each.columns)
        return Need(self.columns | taken, self.duplicates)

    def __or__(self, other: Need) -> Need:
        """What both readers need. Each aggregates for itself, so that they take the rows as they are."""
        one, another = self.exactly, other.exactly
        return Need(one.columns | another.columns, one.duplicates or another.duplicates)


@hashed_once
@dataclass(frozen=True)
class Join:
    """Join of n inputs: all equalities between inputs, then whatever else the predicate says.

    Only inner joins have more than two inputs. A semi or anti join has the columns of its first input. `shape` is
    the tree of joins that it has to be executed as; without one, planning chooses among the safe ones. `demand`:
    whether that tree makes partial results only when somebody can use them; None leaves that to planning as
    well. `need` is what its readers need, if it is to keep no more of some inputs: equal joins with other
    readers are other joins.
    """

    inputs: tuple[Plan, ...]
    equalities: tuple[Equality, ...]
    residual: Expr | None = None
    kind: JoinKind = "inner"
    span: Span | None = field(default=None, compare=False)
    shape: Tree | None = None
    demand: bool | None = None
    need: Need | None = None

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        kept = self.inputs[:1] if self.halved else self.inputs
        return tuple(column for plan in kept for column in plan.columns)

    @cached_property
    def compared(self) -> frozenset[str]:
        """The columns in equalities: a row with NULL in one of them meets nothing."""
        return frozenset(column for e in self.equalities for column in (e.left, e.right))

    def owner(self, column: str) -> int:
        """The input that has a column."""
        return next(i for i, plan in enumerate(self.inputs) if any(c.name == column for c in plan.columns))

    @property
    def halved(self) -> bool:
        """Whether rows of the first input alone come out."""
        return self.kind in ("semi", "anti")

    @property
    def lonely(self) -> tuple[int, ...]:
        """The inputs whose rows are emitted, once no partner can come, because they found none."""
        match self.kind:
            case "inner" | "semi":
                return ()
            case "left" | "anti":
                return (0,)
            case "right":
                return (1,)
            case "full":
                return (0, 1)

    @property
    def padded(self) -> tuple[int, ...]:
        """The inputs whose columns are NULL where a lonely row of the other comes out."""
        return () if self.halved else tuple(1 - i for i in self.lonely)


@hashed_once
@dataclass(frozen=True)
class Group:
    """Groups by plain columns; expressions are computed by a projection below.

    `emit`: each group once, when it is complete, or its current row whenever it has changed.
    """

    input: Plan
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    emit: Literal["final", "changes"] = "final"
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        keys = tuple(column for name in self.keys for column in self.input.columns if column.name == name)
        return keys + tuple(aggregate.result for aggregate in self.aggregates)


SESSION_START, SESSION_END = "session_start", "session_end"


@hashed_once
@dataclass(frozen=True)
class Session:
    """Groups of rows with equal keys, in each of which the next row comes at most `gap` after the one before.

    A session lasts from the time of its first row until `gap`, a constant, after its last. A row without a time is
    in none. It comes out once, when no row can join it any more.
    """

    input: Plan
    time: str
    gap: Expr
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        types = {column.name: column.type for column in self.input.columns}
        ends = (Column(name, types[self.time]) for name in (SESSION_START, SESSION_END))
        keys = (Column(key, types[key]) for key in self.keys)
        return (*keys, *ends, *(aggregate.result for aggregate in self.aggregates))


@hashed_once
@dataclass(frozen=True)
class Distinct:
    """The first of equal rows."""

    input: Plan
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class SortKey:
    column: str
    descending: bool = False
    nulls_first: bool = True


@hashed_once
@dataclass(frozen=True)
class Sort:
    """Rows in order: a row is emitted when nothing can come before it any more."""

    input: Plan
    keys: tuple[SortKey, ...]
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@hashed_once
@dataclass(frozen=True)
class Rank:
    """The rows with their number within their partition; with a `limit`, those with at most this number.

    Partitions and orders by plain columns; expressions are computed by a projection below. Where the order leaves
    rows equal, ROW_NUMBER goes on by all other columns, rising, so that the order of arrival does not show.
    """

    input: Plan
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    function: str
    result: Column
    limit: int | None = None
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return (*self.input.columns, self.result)

    @property
    def ties(self) -> bool:
        """Whether any number of rows may have the same number."""
        return self.function != "ROW_NUMBER"

    @cached_property
    def places(self) -> tuple[SortKey, ...]:
        """The whole order of the rows of a partition, in which only equal rows have the same place."""
        known = {*self.partition, *(key.column for key in self.order)}
        return (*self.order, *(SortKey(c.name) for c in self.input.columns if c.name not in known))


@dataclass(frozen=True)
class Framed:
    """`result` is a function over the frame of each row: the rows of its partition from `preceding` on up to it.

    In rows, `preceding` is how many before it. In a range it is how much less the order key may be, and the frame
    ends with the last of the rows that the order leaves equal. None: from the first row of the partition on.
    LAG is the value of the row so many before; its second argument is what stands where there is none.
    """

    result: Column
    function: str
    arguments: tuple[str, ...]
    unit: Literal["rows", "range"]
    preceding: int | Interval | None = None
    ignore_nulls: bool = False
    span: Span | None = field(default=None, compare=False)

    @property
    def reaches_back(self) -> bool:
        """Whether a frame holds rows that went out before its own row."""
        return self.preceding != 0


@hashed_once
@dataclass(frozen=True)
class Frame:
    """The rows, each with functions of the rows before it in its partition.

    Partitions and orders by plain columns; expressions are computed by a projection below. Where the order leaves
    rows equal, all other columns decide, rising, so that the order of arrival does not show.
    """

    input: Plan
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    functions: tuple[Framed, ...]
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return (*self.input.columns, *(each.result for each in self.functions))

    @cached_property
    def places(self) -> tuple[SortKey, ...]:
        """The whole order of the rows of a partition, in which only equal rows have the same place."""
        known = {*self.partition, *(key.column for key in self.order)}
        return (*self.order, *(SortKey(c.name) for c in self.input.columns if c.name not in known))


@hashed_once
@dataclass(frozen=True)
class Merge:
    """UNION ALL of inputs that have the same columns; UNION is a distinct over it."""

    inputs: tuple[Plan, ...]
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.inputs[0].columns


@hashed_once
@dataclass(frozen=True)
class Compare:
    """The rows of the first of two inputs that the second has too (INTERSECT) or has not (EXCEPT).

    Both have the same columns. The distinct that SQL means with them is a node of its own over this one.
    """

    inputs: tuple[Plan, Plan]
    kind: Literal["intersect", "except"]
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.inputs[0].columns


Plan: TypeAlias = (
    Scan | Filter | Project | Join | Group | Session | Distinct | Sort | Rank | Frame | Merge | Compare
)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    match plan:
        case Scan():
            return ()
        case Join(inputs=several) | Merge(inputs=several) | Compare(inputs=several):
            return several
        case _:
            return (plan.input,)


def with_inputs(plan: Plan, below: tuple[Plan, ...]) -> Plan:
    """The same node over other inputs."""
    match plan:
        case Scan():
            return plan
        case Join() | Merge():
            return replace(plan, inputs=below)
        case Compare():
            left, right = below
            return replace(plan, inputs=(left, right))
        case _:
            (one,) = below
            return replace(plan, input=one)


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


def since(plan: Plan) -> int:
    """The first slice of whoever reads it."""
    return max(node.since for node in walk(plan) if isinstance(node, Scan))


def types_of(*plans: Plan) -> dict[str, Type]:
    """The types of the columns of plans that share no column name."""
    return {column.name: column.type for plan in plans for column in plan.columns}


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
