"""The contract of a stream, checked while it runs.

A slice is surveyed first, in one job over few columns: how many rows and punctuations of each kind there are, how
many rows break a promise, how far an ordered column has come. In the usual case nothing is broken, and then the
later jobs of the slice need not ask again; and what does not occur is left out of their plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame, Row
from pyspark.sql.functions import expr

from caesura.catalog import OrderedBy, Stream, Unique
from caesura.operators.closed import Closed, covered, in_order, uncovered
from caesura.operators.frames import Frame, only, quote, union
from caesura.operators.operator import State
from caesura.operators.store import Store
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.manifest import Promised
from caesura.spark.punctuations import UNREADABLE, Reader
from caesura.spark.sources import CORRUPT

_ROWS, _ADMITTED, _CORRUPTED, _REPEATED = "rows", "admitted", "corrupt", "repeated"
_KIND, _BOUND = "kind ", "bound "


@dataclass(frozen=True)
class Survey:
    """The scalars found in a slice of one stream."""

    values: Mapping[str, str | None]

    @staticmethod
    def read(found: Iterable[Row]) -> dict[str, Survey]:
        values: dict[str, dict[str, str | None]] = {}
        for row in found:
            values.setdefault(row["stream"], {})[row["name"]] = row["value"]
        return {stream: Survey(found) for stream, found in values.items()}

    def _count(self, name: str, default: int = 0) -> int:
        return int(self.values.get(name) or default)

    @property
    def rows(self) -> int:
        return self._count(_ROWS)

    @property
    def punctuations(self) -> int:
        return sum(self._count(_KIND + kind) for kind in self.kinds)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of punctuations that occur."""
        return frozenset(name.removeprefix(_KIND) for name in self.values if name.startswith(_KIND))

    @property
    def bounds(self) -> dict[str, str]:
        found = {name: value for name, value in self.values.items() if name.startswith(_BOUND)}
        return {name.removeprefix(_BOUND): value for name, value in found.items() if value is not None}

    @property
    def broken(self) -> bool:
        """Whether a row breaks the contract."""
        return self.repeated or self._count(_ADMITTED, self.rows) < self.rows

    @property
    def repeated(self) -> bool:
        return self._count(_REPEATED) > 0

    @property
    def unreadable(self) -> bool:
        return UNREADABLE in self.kinds

    @property
    def corrupt(self) -> bool:
        return self._count(_CORRUPTED) > 0


@dataclass(frozen=True)
class Contract:
    """One stream's promises, and the store of the punctuations that hold it to them."""

    stream: Stream
    store: Store

    @cached_property
    def reader(self) -> Reader:
        return Reader({column.name: column.type for column in self.stream.columns}, self.store.keys)

    @property
    def unique(self) -> list[Unique]:
        return [promise for promise in self.stream.promises if isinstance(promise, Unique)]

    @property
    def ordered(self) -> list[OrderedBy]:
        return [promise for promise in self.stream.promises if isinstance(promise, OrderedBy)]

    def arrivals(self, raw: DataFrame, state: State, promised: Promised) -> Arrivals:
        """What a slice brings on this stream."""
        texts = raw.where(f"{PUNCTUATION} IS NOT NULL")
        parsed = state.share(f"punctuations of {self.stream.name}", self.reader.parse(texts, PUNCTUATION))
        return Arrivals(self, raw, parsed, self.before(state, promised))

    def before(self, state: State, promised: Promised) -> Closed:
        """What the stream has promised in earlier slices."""
        stored = self.store.read(state)
        return Closed(stored.points, stored.boxes, promised.bounds, promised.everything)


@dataclass(frozen=True)
class Arrivals:
    contract: Contract
    raw: DataFrame
    parsed: DataFrame
    before: Closed

    @cached_property
    def _data(self) -> DataFrame:
        names = [column.name for column in self.contract.stream.columns]
        return only(self.raw.where(f"{PUNCTUATION} IS NULL AND {CORRUPT} IS NULL"), names)

    @cached_property
    def _lawful(self) -> DataFrame:
        """Rows within the declared domain; as in SQL, a CHECK that is NULL is not broken."""
        rows = self._data
        for check in self.contract.stream.checks:
            rows = rows.where(f"coalesce({check.condition.sql}, true)")
        return rows

    @cached_property
    def _admitted(self) -> Frame:
        return uncovered(self._lawful, self.before)

    def survey(self) -> list[DataFrame]:
        """Counts and bounds, as rows (stream, name, value), to be collected for all streams in one job."""
        data = f"{PUNCTUATION} IS NULL AND {CORRUPT} IS NULL"
        frames = [
            self._scalars(self.raw, {_ROWS: f"count_if({data})", _CORRUPTED: f"count({CORRUPT})"}),
            self._named(self.parsed.groupBy("kind").count(), f"concat('{_KIND}', kind)", "count"),
        ]
        if (admitted := self._admitted) is None:
            return [*frames, self._scalars(self.raw, {_ADMITTED: "count_if(false)"})]
        bounds = {_BOUND + ordered.column: self._bound(ordered) for ordered in self.contract.ordered}
        frames.append(self._scalars(admitted, {_ADMITTED: "count(*)", **bounds}))
        for unique in self.contract.unique:
            per_key = _with_key(admitted, unique).groupBy(*map(quote, unique.columns)).count()
            frames.append(self._scalars(per_key.where("count > 1"), {_REPEATED: "sum(count)"}))
        return frames

    def rows(self, survey: Survey) -> Frame:
        """The rows that keep the contract."""
        if survey.rows == 0:
            return None
        if not survey.broken:
            return self._data
        rows = self._admitted
        if rows is not None and survey.repeated:
            for unique in self.contract.unique:
                rows = self._numbered(rows, unique).where("nth = 1").drop("nth")
        return rows

    def closed(self, survey: Survey, rows: Frame) -> Closed:
        """The punctuations of the slice: in band, of unique keys, of ordered columns."""
        closed = self.contract.reader.closed(self.parsed, survey.kinds)
        if rows is not None:
            for unique in self.contract.unique:
                key = in_order(self.contract.store.types, unique.columns)
                closed |= Closed({key: only(_with_key(rows, unique), key)})
        types = {ordered.column: _bound_type(self.contract.stream, ordered) for ordered in self.contract.ordered}
        bounds = {column: f"CAST('{value}' AS {types[column]})" for column, value in survey.bounds.items()}
        return closed | Closed(bounds=bounds)

    def quarantine(self, survey: Survey) -> Frame:
        """What breaks the contract or cannot be read, each with the reason, so that nothing is lost."""
        found: list[Frame] = []
        if survey.corrupt:
            corrupt = self.raw.where(f"{CORRUPT} IS NOT NULL")
            found.append(corrupt.selectExpr("'the row cannot be parsed' AS reason", f"{CORRUPT} AS row"))
        if survey.unreadable:
            reason = "concat('the punctuation cannot be read: ', reason) AS reason"
            found.append(self.parsed.where(f"kind = '{UNREADABLE}'").selectExpr(reason, "text AS row"))
        if survey.broken:
            found.extend(self._breaches(survey))
        stream = f"'{self.contract.stream.name}' AS stream"
        return union(frame.selectExpr(stream, "reason", "row") for frame in found if frame is not None)

    def _breaches(self, survey: Survey) -> Iterable[Frame]:
        rows: Frame = self._data
        for check in self.contract.stream.checks:
            assert rows is not None
            condition = f"coalesce({check.condition.sql}, true)"
            yield _because(rows.where(f"NOT {condition}"), f"it breaks CHECK ({check.condition.sql})")
            rows = rows.where(condition)
        yield _because(covered(rows, self.before), "it matches an earlier punctuation of its stream")
        rows = self._admitted
        if survey.repeated and rows is not None:
            for unique in self.contract.unique:
                numbered = self._numbered(rows, unique)
                keys = ", ".join(unique.columns)
                yield _because(numbered.where("nth > 1").drop("nth"), f"it repeats UNIQUE ({keys}) in its slice")
                rows = numbered.where("nth = 1").drop("nth")

    def _numbered(self, rows: DataFrame, unique: Unique) -> DataFrame:
        """Rows of one key counted from one, in an order that a re-run repeats; without a key all are first."""
        order = ", ".join(quote(c.name) for c in self.contract.stream.columns if c.type.scalar)
        keys = ", ".join(map(quote, unique.columns))
        missing = " OR ".join(f"{quote(column)} IS NULL" for column in unique.columns)
        nth = f"IF({missing}, 1, row_number() OVER (PARTITION BY {keys} ORDER BY {order})) AS nth"
        return rows.selectExpr("*", nth)

    def _bound(self, ordered: OrderedBy) -> str:
        """The newest value less the slack, and never below the bound so far."""
        newest = f"max({quote(ordered.column)})"
        bound = newest if ordered.slack is None else f"{newest} - {ordered.slack.sql}"
        so_far = self.before.bounds.get(ordered.column)
        return bound if so_far is None else f"greatest({bound}, {so_far})"

    def _scalars(self, frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        values = frame.agg(*(expr(f"CAST({sql} AS STRING) AS v{i}") for i, sql in enumerate(columns.values())))
        pairs = ", ".join(f"struct('{name}' AS name, v{i} AS value)" for i, name in enumerate(columns))
        return self._named(values.selectExpr(f"inline(array({pairs}))"), "name", "value")

    def _named(self, frame: DataFrame, name: str, value: str) -> DataFrame:
        stream = f"'{self.contract.stream.name}' AS stream"
        return frame.selectExpr(stream, f"{name} AS name", f"CAST({value} AS STRING) AS value")


def _with_key(rows: DataFrame, unique: Unique) -> DataFrame:
    """As in SQL, a key with NULL in it repeats nothing and says nothing."""
    return rows.dropna(subset=[quote(column) for column in unique.columns])


def _because(rows: Frame, reason: str) -> Frame:
    if rows is None:
        return None
    fields = ", ".join(map(quote, rows.columns))
    escaped = reason.replace("\\", "\\\\").replace("'", "\\'")
    return rows.selectExpr(
        f"'{escaped}' AS reason", f"to_json(struct({fields}), map('ignoreNullFields', 'false')) AS row"
    )


def _bound_type(stream: Stream, ordered: OrderedBy) -> str:
    """A date less some hours is a timestamp."""
    (type,) = (column.type for column in stream.columns if column.name == ordered.column)
    return "TIMESTAMP" if type.sql == "DATE" and ordered.slack is not None else type.sql
