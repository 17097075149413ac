"""A slice of one stream, held to its contract: what is admitted, what it closes, what is set aside and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from caesura.catalog import Interval, OrderedBy, Unique
from caesura.checkpoint.manifest import Promised
from caesura.operators.closed import NOTHING, Closed, covered, restricting, uncovered
from caesura.operators.intervals import Run
from caesura.operators.operator import Flow, State
from caesura.operators.rows import Rows, quote, sent
from caesura.spark.contract import Contract, Past, Said, Source, all_said
from caesura.spark.inputs import IS_ROW, PUNCTUATION, Brought
from caesura.spark.lines import CORRUPT, DETAIL, FILE
from caesura.spark.punctuations import UNREADABLE
from caesura.spark.quarantine import Aside
from caesura.spark.survey import Survey, Values

_NTH = "caesura: nth of key"
_ALL_FIELDS = "map('ignoreNullFields', 'false')"


@dataclass(frozen=True)
class Arrivals:
    """Rows and punctuations as they came, and what was promised before."""

    contract: Contract
    brought: Brought
    past: Past
    state: State

    @property
    def raw(self) -> Rows:
        return self.brought.rows

    def source(self, survey: Survey) -> Source:
        """What the rest of the slice sees of it, and what has to be known of it later."""
        rows = self.rows(survey)
        said = self.said(survey, rows)
        flow = Flow(rows, all_said(said), self.past.closed)
        before = self.past.promised
        now = self.past.time if self.contract.timed_by is None else survey.time or before.time
        seen = self.past.time if survey.rows or before.seen is None else before.seen
        promised = Promised({**before.bounds, **survey.bounds}, flow.closed.everything, now, seen)
        return Source(flow, promised, self.contract.remember(self.state, said, rows, before, promised))

    def unchecked(self) -> Flow:
        """Its rows, as if all of them kept the contract."""
        return Flow(self.data())

    def plain(self) -> dict[str, str]:
        return self.contract.reader.plain(PUNCTUATION)

    @property
    def plain_points(self) -> Rows:
        """What plain punctuations close. Among many rows they are looked for once, and the survey, too, reads what
        is held of them."""
        points = self.contract.reader.plain_points(self.raw, PUNCTUATION)
        return self.state.share(f"{self.contract.stream.name}: plain", points) if self.brought.much else points

    def bounds(self) -> dict[str, str]:
        """Of ranges that hold for ever."""
        bounds, lives = self.contract.reader.bounds(PUNCTUATION), self.contract.in_band
        return {column: value for column, value in bounds.items() if lives.get((column,)) is None}

    def parsed(self) -> Rows:
        """The punctuations that are not plain, read."""
        texts = self.brought.placed.present([PUNCTUATION])
        for value in (*self.plain().values(), *self.bounds().values()):
            texts = texts.where(f"{value} IS NULL")
        names = [quote(column.name) for column in self.contract.stream.columns]
        whole = f"to_json(struct({', '.join((*names, f'{quote(PUNCTUATION)} AS punctuation'))}), {_ALL_FIELDS})"
        # A row that has a punctuation and columns is shown with them: perhaps it was meant as a row.
        alone = " AND ".join(f"{name} IS NULL" for name in names) or "true"
        shown = {"shown": f"IF({alone}, {quote(PUNCTUATION)}, {whole})", "file": quote(FILE)}
        return self.contract.reader.parse(texts, PUNCTUATION, shown)

    def data(self) -> Rows:
        """The rows proper: no punctuation, and readable."""
        return self.raw.where(IS_ROW).only(column.name for column in self.contract.stream.columns)

    def within(self) -> Rows:
        """The rows proper within the declared domain."""
        return self.data().where(self.in_domain)

    @property
    def in_domain(self) -> str:
        """As in SQL, a CHECK that is NULL is not broken."""
        conditions = (f"coalesce({check.condition.sql}, true)" for check in self.contract.stream.checks)
        return " AND ".join(conditions) or "true"

    def admitted(self) -> Rows | None:
        """The rows within the declared domain that no earlier punctuation matches."""
        return uncovered(self.within(), self.past.closed)

    def _placed(self) -> Rows:
        """The rows proper, with their files."""
        names = (column.name for column in self.contract.stream.columns)
        return self.brought.placed.where(IS_ROW).only((*names, FILE))

    def rows(self, survey: Survey) -> Rows | None:
        """The rows that keep the contract. Where the survey found none that breaks it, nobody asks again."""
        if survey.rows == 0:
            return None
        rows = self.admitted() if survey.broken else self.data()
        if rows is not None and survey.repeated:
            for unique in self.contract.unique:
                rows = self._numbered(rows, unique).where(f"{quote(_NTH)} = 1").without(_NTH)
        return None if rows is None else rows.ranging(survey.ranges)

    def said(self, survey: Survey, rows: Rows | None) -> Said:
        """The punctuations of the slice: in band, and those that follow from its rows and from one another."""
        said: dict[Interval | None, Closed] = {}

        def say(life: Interval | None, closed: Closed) -> None:
            said[life] = said.get(life, NOTHING) | closed

        for life, closed in (*self._in_band(survey), *self._by_rows(survey, rows)):
            say(life, closed)
        for promise, completion in self.contract.completions.items():
            if completion.awaits(new := all_said(said)):
                complete = completion.closed(self.past.closed | new)
                say(promise.lifespan, self._shared(complete, f"complete {', '.join(promise.columns)}"))
        return said

    def _in_band(self, survey: Survey) -> Iterator[tuple[Interval | None, Closed]]:
        reader, lives = self.contract.reader, self.contract.in_band
        closed = NOTHING
        if survey.parsed is not None:
            closed = self._shared(reader.closed(survey.parsed, survey.kinds))
        for attribute, count in survey.plain.items():
            values = survey.plain_values.get(attribute)
            if values is not None and values.gapless and lives.get((attribute,)) is None:
                yield None, self._run(attribute, values)
            else:
                points = self.plain_points.present([attribute]).only([attribute])
                ranges = {} if values is None else {attribute: values.ends}
                closed |= Closed({(attribute,): sent(points.ranging(ranges), count)})
        for attribute, least in survey.least_open.items():
            yield None, Closed(spans={attribute: (Run(self.contract.store.types[attribute], None, least - 1),)})
        for key, points in closed.points.items():
            yield lives.get(key), Closed({key: points})
        boxes = closed.boxes
        for key, life in lives.items():
            if boxes is not None and life is not None:
                mine, boxes = restricting(boxes, key)
                yield life, Closed(boxes=mine)
        yield None, Closed(boxes=boxes, everything=closed.everything)

    def _by_rows(self, survey: Survey, rows: Rows | None) -> Iterator[tuple[Interval | None, Closed]]:
        if rows is not None:
            for i, unique in enumerate(self.contract.unique):
                keys = survey.keys.get(i)
                if keys is not None and keys.gapless and not survey.repeated:
                    yield None, self._run(unique.columns[0], keys)
                else:
                    yield unique.lifespan, self._keys(rows, unique.columns)
            for i, ending in enumerate(self.contract.ending):
                if i in survey.ends:
                    yield ending.lifespan, self._keys(rows.where(ending.condition.sql), ending.columns)
        for promise, clusters in self.contract.clusters.items():
            yield promise.lifespan, clusters.closed(self.state, rows)
        yield None, self.contract.below(survey.bounds)

    def _run(self, attribute: str, values: Values) -> Closed:
        return Closed(runs={attribute: (Run(self.contract.store.types[attribute], *values.ends),)})

    def _keys(self, rows: Rows, columns: tuple[str, ...]) -> Closed:
        """The keys of the rows, as constants; one with NULL in it is none."""
        key = self.contract.key(columns)
        return Closed({key: rows.present(key).only(key)})

    def _shared(self, closed: Closed, which: str = "in band") -> Closed:
        name = f"{self.contract.stream.name}: {which}"
        return closed.mapped(lambda rows, what: self.state.share(f"{name} {what}", rows))

    def set_aside(self, survey: Survey) -> tuple[Aside, ...]:
        """What breaks the contract or cannot be read, each with the reason, so that nothing is lost."""
        return tuple(Aside(self.contract.stream.name, reason, rows) for reason, rows in self._broken(survey))

    def _broken(self, survey: Survey) -> Iterator[tuple[str, Rows]]:
        if survey.corrupt:
            corrupt = self.brought.placed.present([CORRUPT])
            found = {"row": quote(CORRUPT), "detail": quote(DETAIL), "file": quote(FILE)}
            yield "the row cannot be parsed", corrupt.project(found)
        if survey.parsed is not None and UNREADABLE in survey.kinds:
            unreadable = survey.parsed.where(f"kind = '{UNREADABLE}'")
            found = {"detail": "reason", "row": "shown", "file": "file"}
            yield "the punctuation cannot be read", unreadable.project(found)
        if survey.broken:
            for reason, rows in self._breaches(survey):
                if rows is not None:
                    yield reason, _as_text(rows)

    def _breaches(self, survey: Survey) -> Iterator[tuple[str, Rows | None]]:
        rows: Rows | None = self._placed()
        for check in self.contract.stream.checks:
            assert rows is not None
            condition = f"coalesce({check.condition.sql}, true)"
            yield f"it breaks CHECK ({check.condition.sql})", rows.where(f"NOT {condition}")
            rows = rows.where(condition)
        for column, span in self.contract.below(self.past.promised.bounds).spans.items():
            bound = Closed(spans={column: span})
            yield f"it is below the bound of ORDERED BY ({column})", covered(rows, bound)
            rows = uncovered(rows, bound)
        if self.past.closed:
            yield "it matches an earlier punctuation of its stream", covered(rows, self.past.closed)
        admitted = uncovered(self._placed().where(self.in_domain), self.past.closed)
        if survey.repeated and admitted is not None:
            for unique in self.contract.unique:
                numbered = self._numbered(admitted, unique)
                keys = ", ".join(unique.columns)
                repeated = numbered.where(f"{quote(_NTH)} > 1").without(_NTH)
                yield f"it repeats UNIQUE ({keys}) in its slice", repeated
                admitted = numbered.where(f"{quote(_NTH)} = 1").without(_NTH)

    @property
    def ranges_tell(self) -> bool:
        """Whether the least and the greatest values can tell that no row is forbidden: all that is forbidden are
        values of columns whose ranges are asked for, and the driver knows which, or between which ends."""
        closed, below = self.past.closed, self.contract.below(self.past.promised.bounds).spans
        asked = self.contract.ending  # which may fail on a row that is forbidden
        numbers = self.contract.numbers.keys()
        spans = all(
            each in below.get(column, ()) or (column in numbers and isinstance(each, Run))
            for column, intervals in closed.known.items()
            for each in intervals
        )
        points = all(numbers & points.ranges.keys() & {*names} for names, points in closed.points.items())
        return not (asked or closed.boxes is not None or closed.everything) and spans and points

    def bound(self, ordered: OrderedBy, newest: str) -> str:
        """The newest value (as SQL) less the slack; it never falls."""
        bound = newest if ordered.slack is None else f"{newest} - {ordered.slack.sql}"
        so_far = self.past.promised.bounds.get(ordered.column)
        return bound if so_far is None else f"greatest({bound}, {self.contract.literal(ordered, so_far)})"

    def _numbered(self, rows: Rows, unique: Unique) -> Rows:
        """Rows of one key counted from one, in an order that a re-run repeats; without a key all are first."""
        order = ", ".join(quote(c.name) for c in self.contract.stream.columns if c.type.scalar)
        keys = ", ".join(map(quote, unique.columns))
        missing = " OR ".join(f"{quote(column)} IS NULL" for column in unique.columns)
        nth = f"IF({missing}, 1, row_number() OVER (PARTITION BY {keys} ORDER BY {order}))"
        return rows.extended({_NTH: nth})


def _as_text(rows: Rows) -> Rows:
    fields = ", ".join(quote(name) for name in rows.columns if name != FILE)
    return rows.project({"row": f"to_json(struct({fields}), {_ALL_FIELDS})", "file": quote(FILE)})
