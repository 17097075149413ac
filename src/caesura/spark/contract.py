"""The contract of a stream, checked while it runs: what of a slice is admitted, and what is set aside and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from caesura.catalog import OrderedBy, Stream, Unique
from caesura.operators.closed import NOTHING, Closed, Span, covered, in_order, uncovered
from caesura.operators.operator import State
from caesura.operators.rows import Rows, quote, text, union
from caesura.operators.store import Store
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.manifest import Promised
from caesura.spark.punctuations import UNREADABLE, Reader, sent
from caesura.spark.sources import CORRUPT
from caesura.spark.survey import Survey

_NTH = "nth of key"


@dataclass(frozen=True)
class Contract:
    """One stream's promises, and the store of the punctuations that hold it to them."""

    stream: Stream
    store: Store

    @cached_property
    def reader(self) -> Reader:
        return Reader({column.name: column.type for column in self.stream.columns}, self.store.keys)

    @cached_property
    def unique(self) -> tuple[Unique, ...]:
        return tuple(promise for promise in self.stream.promises if isinstance(promise, Unique))

    @cached_property
    def ordered(self) -> tuple[OrderedBy, ...]:
        return tuple(promise for promise in self.stream.promises if isinstance(promise, OrderedBy))

    def before(self, state: State, promised: Promised) -> Closed:
        """What the stream has promised in earlier slices."""
        return self.store.read(state) | self.below(promised.bounds) | Closed(everything=promised.everything)

    def below(self, bounds: Mapping[str, str]) -> Closed:
        """What the bounds of ordered columns close."""
        spans: dict[str, tuple[Span, ...]] = {}
        for ordered in self.ordered:
            if (bound := bounds.get(ordered.column)) is not None:
                type = self.store.types[ordered.column].sql
                spans[ordered.column] = (Span(type, None, self.literal(ordered, bound), high_open=True),)
        return Closed(spans=spans)

    def literal(self, ordered: OrderedBy, bound: str) -> str:
        """A bound as SQL; a date less some hours is a timestamp."""
        type = self.store.types[ordered.column].sql
        return f"CAST({text(bound)} AS {'TIMESTAMP' if type == 'DATE' and ordered.slack is not None else type})"

    def arrivals(self, raw: Rows, state: State, promised: Promised) -> Arrivals:
        """What a slice brings on this stream."""
        return Arrivals(self, raw, self.before(state, promised), promised)


@dataclass(frozen=True)
class Arrivals:
    """A slice of one stream: rows and punctuations as they came, and what was promised before."""

    contract: Contract
    raw: Rows
    before: Closed
    promised: Promised

    def plain(self) -> dict[str, str]:
        return self.contract.reader.plain(PUNCTUATION)

    def parsed(self) -> Rows:
        """The punctuations that are not plain, read."""
        texts = self.raw.present([PUNCTUATION])
        for number in self.plain().values():
            texts = texts.where(f"{number} IS NULL")
        return self.contract.reader.parse(texts, PUNCTUATION)

    def data(self) -> Rows:
        """The rows proper: no punctuation, and readable."""
        names = [column.name for column in self.contract.stream.columns]
        return self.raw.where(f"{quote(PUNCTUATION)} IS NULL AND {quote(CORRUPT)} IS NULL").only(names)

    def admitted(self) -> Rows | None:
        """The rows within the declared domain that no earlier punctuation matches. As in SQL, a CHECK that is
        NULL is not broken."""
        rows = self.data()
        for check in self.contract.stream.checks:
            rows = rows.where(f"coalesce({check.condition.sql}, true)")
        return uncovered(rows, self.before)

    def rows(self, survey: Survey) -> Rows | None:
        """The rows that keep the contract. Where the survey found none that breaks it, nobody asks again."""
        if survey.rows == 0:
            return None
        if not survey.broken:
            return self.data()
        rows = self.admitted()
        if rows is not None and survey.repeated:
            for unique in self.contract.unique:
                rows = self._numbered(rows, unique).where(f"{quote(_NTH)} = 1").without(_NTH)
        return rows

    def closed(self, survey: Survey, rows: Rows | None, state: State) -> Closed:
        """The punctuations of the slice: in band, of unique keys, of ordered columns."""
        reader = self.contract.reader
        closed = NOTHING
        if survey.parsed is not None:
            closed = reader.closed(survey.parsed, survey.kinds).mapped(
                lambda rows, what: state.share(f"{self.contract.stream.name}: {what}", rows)
            )
        for attribute, count in survey.plain.items():
            points = reader.plain_points(self.raw, PUNCTUATION, attribute)
            closed |= Closed({(attribute,): sent(points, count)})
        if rows is not None:
            for unique in self.contract.unique:
                key = in_order(self.contract.store.types, unique.columns)
                closed |= Closed({key: rows.present(unique.columns).only(key)})
        return closed | self.contract.below(survey.bounds)

    def quarantine(self, survey: Survey) -> Rows | None:
        """What breaks the contract or cannot be read, each with the reason, so that nothing is lost."""
        found: list[Rows | None] = []
        if survey.corrupt:
            corrupt = self.raw.present([CORRUPT])
            found.append(corrupt.project({"reason": text("the row cannot be parsed"), "row": quote(CORRUPT)}))
        if survey.parsed is not None and UNREADABLE in survey.kinds:
            reason = "concat('the punctuation cannot be read: ', reason)"
            unreadable = survey.parsed.where(f"kind = '{UNREADABLE}'")
            found.append(unreadable.project({"reason": reason, "row": "text"}))
        if survey.broken:
            found.extend(self._breaches(survey))
        stream = text(self.contract.stream.name)
        return union(rows.extended({"stream": stream}) for rows in found if rows is not None)

    def _breaches(self, survey: Survey) -> Iterator[Rows | None]:
        rows = self.data()
        for check in self.contract.stream.checks:
            condition = f"coalesce({check.condition.sql}, true)"
            yield _because(rows.where(f"NOT {condition}"), f"it breaks CHECK ({check.condition.sql})")
            rows = rows.where(condition)
        if self.before:
            yield _because(covered(rows, self.before), "it matches an earlier punctuation of its stream")
        admitted = self.admitted()
        if survey.repeated and admitted is not None:
            for unique in self.contract.unique:
                numbered = self._numbered(admitted, unique)
                keys = ", ".join(unique.columns)
                repeated = numbered.where(f"{quote(_NTH)} > 1").without(_NTH)
                yield _because(repeated, f"it repeats UNIQUE ({keys}) in its slice")
                admitted = numbered.where(f"{quote(_NTH)} = 1").without(_NTH)

    def bound(self, ordered: OrderedBy) -> str:
        """The newest value less the slack, as SQL over admitted rows; it never falls."""
        newest = f"max({quote(ordered.column)})"
        bound = newest if ordered.slack is None else f"{newest} - {ordered.slack.sql}"
        so_far = self.promised.bounds.get(ordered.column)
        return bound if so_far is None else f"greatest({bound}, {self.contract.literal(ordered, so_far)})"

    def _numbered(self, rows: Rows, unique: Unique) -> Rows:
        """Rows of one key counted from one, in an order that a re-run repeats; without a key all are first."""
        order = ", ".join(quote(c.name) for c in self.contract.stream.columns if c.type.scalar)
        keys = ", ".join(map(quote, unique.columns))
        missing = " OR ".join(f"{quote(column)} IS NULL" for column in unique.columns)
        nth = f"IF({missing}, 1, row_number() OVER (PARTITION BY {keys} ORDER BY {order}))"
        return rows.extended({_NTH: nth})


def _because(rows: Rows | None, reason: str) -> Rows | None:
    if rows is None:
        return None
    fields = ", ".join(map(quote, rows.columns))
    row = f"to_json(struct({fields}), map('ignoreNullFields', 'false'))"
    return rows.project({"reason": text(reason), "row": row})
