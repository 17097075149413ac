"""What the user declared: streams, tables and sinks, and the promises made about streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from caesura.diagnostics import Span
from caesura.expression import Expr
from caesura.types import Type


@dataclass(frozen=True)
class Column:
    name: str
    type: Type
    span: Span | None = field(default=None, compare=False)


UNITS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""The units of fixed length, in microseconds."""


@dataclass(frozen=True)
class Interval:
    """A length of time as Spark writes it, e.g. `INTERVAL 5 SECONDS`."""

    sql: str

    @property
    def microseconds(self) -> int:
        _, number, unit = self.sql.split()
        return int(Decimal(number) * UNITS[unit.removesuffix("S")])


@dataclass(frozen=True)
class PunctuatedBy:
    """The source sends punctuations with a pattern on each of `columns`."""

    columns: tuple[str, ...]
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Unique:
    """A key arrives once, so each row punctuates its own key."""

    columns: tuple[str, ...]
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class OrderedBy:
    """Rows come at most `slack` behind the newest value of `column` seen.

    `idle`: after that long without rows the stream is taken to have come as far as the others.
    """

    column: str
    slack: Interval | None = None
    idle: Interval | None = None
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def columns(self) -> tuple[str]:
        """As the other promises have them."""
        return (self.column,)


@dataclass(frozen=True)
class ClusteredBy:
    """Rows of one key arrive together: a key ends when another starts."""

    columns: tuple[str, ...]
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ClosedBy:
    """A row that satisfies `condition` ends its own key."""

    columns: tuple[str, ...]
    condition: Expr
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CompleteBy:
    """`columns` are closed once every value of `per` listed in `table` has punctuated them."""

    columns: tuple[str, ...]
    per: tuple[str, ...]
    table: str
    lifespan: Interval | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Check:
    """A domain: rows outside never come."""

    condition: Expr
    span: Span | None = field(default=None, compare=False)


Promise: TypeAlias = PunctuatedBy | Unique | OrderedBy | ClusteredBy | ClosedBy | CompleteBy
Constraint: TypeAlias = Promise | Check


@dataclass(frozen=True)
class Origin:
    """Where rows are read from or written to: Spark's format, location and options, unchanged."""

    format: str
    location: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False)


PUNCTUATION_COLUMN = "_punctuation"
"""Where a source carries punctuations, unless its declaration says otherwise."""


@dataclass(frozen=True)
class Traffic:
    """How much comes: rows per second, how many values of a column are open at a time, that is, may still come or
    are still waited for, and how many are closed per second. What is not known is left out."""

    rate: float | None = None
    distinct: tuple[tuple[str, float], ...] = ()
    closes: tuple[tuple[str, float], ...] = ()

    @staticmethod
    def figure(number: float) -> bool:
        """Whether it can be one of these. What lies beyond is a mistake, and products of it are no numbers."""
        return 1e-9 <= number <= 1e15


OnViolation: TypeAlias = Literal["quarantine", "fail"]
"""What becomes of a slice that breaks a promise: the row that does is set aside, or the pipeline stops."""


@dataclass(frozen=True)
class Stream:
    """An endless relation. `origin` is None when it stands on a DataFrame given from Python.

    `release`: joins give up its rows when its time has passed theirs by so much, whatever could still come.
    `on_violation` is no part of what the stream means: a pipeline that stopped may go on with the other one.
    Neither is `traffic`, by which join plans are chosen.
    """

    name: str
    columns: tuple[Column, ...]
    constraints: tuple[Constraint, ...] = ()
    origin: Origin | None = None
    punctuation_column: str = PUNCTUATION_COLUMN
    release: Interval | None = None
    on_violation: OnViolation = field(default="quarantine", compare=False)
    traffic: Traffic = field(default_factory=Traffic, compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def promises(self) -> tuple[Promise, ...]:
        return tuple(c for c in self.constraints if not isinstance(c, Check))

    @property
    def time(self) -> str | None:
        """The first date or time that it is ordered by."""
        temporal = {column.name for column in self.columns if column.type.temporal}
        ordered = (p.column for p in self.promises if isinstance(p, OrderedBy))
        return next((column for column in ordered if column in temporal), None)

    @property
    def in_band(self) -> bool:
        """Whether the source is expected to send punctuations among its rows."""
        return self.punctuation_column != PUNCTUATION_COLUMN or any(
            isinstance(promise, PunctuatedBy) for promise in self.promises
        )

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(c for c in self.constraints if isinstance(c, Check))


@dataclass(frozen=True)
class Table:
    """A finite relation, read once."""

    name: str
    columns: tuple[Column, ...]
    origin: Origin | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Values:
    """A finite relation that the query itself writes down, row by row, in constants."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Expr, ...], ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Sink:
    name: str
    origin: Origin
    span: Span | None = field(default=None, compare=False)


Relation: TypeAlias = Stream | Table | Values


@dataclass(frozen=True)
class Catalog(Mapping[str, Relation]):
    """The relations by name. Names are compared without regard to case, as Spark does."""

    relations: tuple[Relation, ...] = ()

    def __getitem__(self, name: str) -> Relation:
        for relation in self.relations:
            if relation.name.lower() == name.lower():
                return relation
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (relation.name for relation in self.relations)

    def __len__(self) -> int:
        return len(self.relations)

    def add(self, relation: Relation) -> Catalog:
        return Catalog((*self.relations, relation))
