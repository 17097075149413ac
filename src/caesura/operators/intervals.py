"""Intervals of one attribute: what a punctuation's pattern is, as SQL and as far as the driver knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TypeAlias

from caesura.operators.rows import Ends, Rows, hull, local, quote, sent, union
from caesura.types import Type

ENDS = ("low", "high", "low_open", "high_open")
"""The fields of a box's pattern on an attribute."""


@dataclass(frozen=True)
class Span:
    """The values of a type from `low` to `high` (SQL, both included unless open); None is no end."""

    type: str
    low: str | None
    high: str | None
    high_open: bool = False
    low_open: bool = False
    sure: bool = True
    """Whether its ends have values. Else they are expressions, and where one is NULL there is no such span."""

    @property
    def ends(self) -> tuple[str, ...]:
        """As the parts of a box's pattern."""
        low, high = (f"CAST({end or 'NULL'} AS {self.type})" for end in (self.low, self.high))
        return low, high, str(self.low_open).lower(), str(self.high_open).lower()

    def meets(self, ends: Ends) -> bool:
        """The driver cannot tell: the ends are SQL."""
        return True

    def between(self, ends: Ends) -> Span:
        return self

    @property
    def endless(self) -> bool:
        """Whether it has all values."""
        return self.low is None and self.high is None


MOST = 32
"""So many intervals of a table the driver knows, at the most: whoever asks compares with each."""

HANDFUL = 4
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "DATE": 32}

_AT_ONCE = 65536
"""How many values of a run are written as one array."""


@dataclass(frozen=True)
class Run:
    """The values of an enumerable type from the first to the last, both included and as numbers (`number`); None
    is no end."""

    type: Type
    first: int | None
    last: int | None

    @property
    def values(self) -> int | None:
        """How many they are; None: without end."""
        return None if self.first is None or self.last is None else self.last - self.first + 1

    @property
    def low(self) -> str | None:
        return self._sql(self.first)

    @property
    def high(self) -> str | None:
        return self._sql(self.last)

    @property
    def ends(self) -> tuple[str, ...]:
        return Span(self.type.sql, self.low, self.high).ends

    @property
    def low_open(self) -> bool:
        return False

    @property
    def high_open(self) -> bool:
        return False

    @property
    def sure(self) -> bool:
        return True

    def meets(self, ends: Ends) -> bool:
        """Whether one of its values is between these."""
        first, last = ends
        return (self.first is None or self.first <= last) and (self.last is None or first <= self.last)

    @property
    def endless(self) -> bool:
        return self.first is None and self.last is None

    def between(self, ends: Ends) -> Run:
        """The same to values between these: an end that none of them is beyond is no end."""
        first = None if self.first is None or self.first <= ends[0] else self.first
        last = None if self.last is None or self.last >= ends[1] else self.last
        return Run(self.type, first, last)

    def _sql(self, end: int | None) -> str | None:
        return None if end is None else at_number(f"{end}L", self.type)


Stretch: TypeAlias = Span | Run


NO_VALUE: Ends = (2**63, -(2**63) - 1)
"""The ends of no value: they meet nothing, and a hull with them is the same as without."""


def meet(one: Ends, other: Ends) -> bool:
    """Whether there may be a value between both."""
    return one[0] <= other[1] and other[0] <= one[1]


def joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The same values in as few runs as there can be."""
    found: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.first is not None, run.first or 0)):
        before = found[-1] if found else None
        if before is None or (before.last is not None and run.first is not None and before.last + 1 < run.first):
            found.append(run)
        elif before.last is not None and (run.last is None or run.last > before.last):
            found[-1] = Run(run.type, before.first, run.last)
    return tuple(found)


def together(spans: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """The same values; runs of one type in as few as there can be."""
    several = tuple(spans)
    runs = [span for span in several if isinstance(span, Run)]
    types = dict.fromkeys(run.type for run in runs)
    united = (joined(run for run in runs if run.type == type) for type in types)
    return (*(span for span in several if isinstance(span, Span)), *chain(*united))


def of_type(runs: Iterable[Run], type: Type) -> tuple[Run, ...]:
    """The same as values of another type, as far as it has them: an INT may be compared with a BIGINT."""
    least, greatest = ends_of(type)

    def within(end: int | None) -> int | None:
        return None if end is None else min(max(end, least), greatest)

    return tuple(Run(type, within(run.first), within(run.last)) for run in runs if run.meets((least, greatest)))


def ends_of(type: Type) -> tuple[int, int]:
    """The least and the greatest value of an enumerable type, as numbers."""
    bits = _BITS.get(type.sql, 64)
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def each_value(attribute: str, runs: Iterable[Run]) -> Rows:
    """The values of runs that end, one by one."""
    runs = tuple(runs)
    pieces = [piece for run in runs for piece in _pieces(run)]
    ends = local(("low", "high"), (piece.ends[:2] for piece in pieces))
    values = ends.exploded({attribute: "sequence(low, high)"}).ranging(_ranges(attribute, runs))
    return sent(values, sum(piece.values or 0 for piece in pieces))


def _pieces(run: Run) -> Iterator[Run]:
    assert run.first is not None
    assert run.last is not None
    for first in range(run.first, run.last + 1, _AT_ONCE):
        yield Run(run.type, first, min(first + _AT_ONCE - 1, run.last))


def number(value: str, type: Type) -> str:
    """A value of an enumerable type as a number of which each next value is one more."""
    return f"CAST(unix_date({value}) AS BIGINT)" if type.sql == "DATE" else f"CAST({value} AS BIGINT)"


def at_number(number: str, type: Type) -> str:
    """The value of an enumerable type with this number."""
    return f"date_from_unix_date(CAST({number} AS INT))" if type.sql == "DATE" else f"CAST({number} AS {type})"


def interval_type(sql: str) -> str:
    """The type of a box's pattern on an attribute; an end that is NULL is open to that side."""
    return f"STRUCT<low: {sql}, high: {sql}, low_open: BOOLEAN, high_open: BOOLEAN>"


def one_value(value: str) -> str:
    """A constant as a box's pattern."""
    return f"struct({value} AS low, {value} AS high, false AS low_open, false AS high_open)"


def interval_table(attribute: str, spans: Iterable[Stretch]) -> Rows:
    """Spans as boxes in a local table."""
    spans = tuple(spans)
    table = _table([ENDS], ((span,) for span in spans))
    return table.project({attribute: f"struct({', '.join(ENDS)})"}).ranging(_ranges(attribute, spans))


def _table(names: Sequence[Sequence[str]], several: Iterable[tuple[Stretch, ...]]) -> Rows:
    """A row for each of several combinations of spans: the ends of the first under the first names, and so on."""
    columns = tuple(chain(*names))
    sure: list[tuple[str, ...]] = []
    tables: list[Rows] = []
    for spans in several:
        row = tuple(chain(*(span.ends for span in spans)))
        given = [quote(name) for of, span in zip(names, spans, strict=True) for name in _given(of, span)]
        if given:
            tables.append(local(columns, (row,)).where(" AND ".join(f"{name} IS NOT NULL" for name in given)))
        else:
            sure.append(row)
    table = union((local(columns, sure) if sure or not tables else None, *tables))
    assert table is not None
    return table


def _given(names: Sequence[str], span: Stretch) -> Iterator[str]:
    """The ends that may turn out to be NULL."""
    ends = zip(names, (span.low, span.high), strict=False)
    return (name for name, end in ends if end is not None and not span.sure)


def _ranges(attribute: str, spans: Iterable[Stretch]) -> dict[str, Ends]:
    """Between which ends the values of all of them are, if they have such."""
    return hull(
        {attribute: (span.first, span.last)}
        if isinstance(span, Run) and span.first is not None and span.last is not None
        else {}
        for span in spans
    )


def against_spans(rows: Rows, value: str, spans: Iterable[Stretch], *, negated: bool = False) -> Rows:
    """The rows whose value (as SQL) is in one of few spans, or in none. It is asked of every row: the ends of a
    handful are constants; those of more are columns, since to take them out of a struct would cost more than to
    compare."""
    spans = tuple(spans)
    if len(spans) <= HANDFUL:
        return rows.where("NOT (" if negated else "(", *_in_one(value, spans), ")")
    ends = {end: f"span {end}" for end in ENDS}
    table = _table([(*ends.values(),)], ((span,) for span in spans))
    low, high, low_open, high_open = map(quote, ends.values())
    return rows.matching_on(table, _between(value, low, high, low_open, high_open), negated=negated)


def inside_some(rows: Rows, several: Sequence[tuple[str, tuple[Stretch, ...]]]) -> Rows:
    """The rows of which, of several values (as SQL), each beside a handful of spans, one is in one of them."""
    condition = (part for value, spans in several for part in (" OR ", *_in_one(value, spans)))
    return rows.where("(false", *condition, ")")


def _in_one(value: str, spans: tuple[Stretch, ...]) -> Iterator[str | Rows]:
    """The condition that a value is in one of the spans. Their ends are one constant, a struct: to generated code
    it is an object, so that the code is that of the last slice; a number would be a part of it, and compiled anew.
    Unlike a join it takes no job."""
    named = {
        f"{end}_{i}": f"CAST({sql} AS {span.type})"
        for i, span in enumerate(spans)
        for end, sql in (("low", span.low), ("high", span.high))
        if sql is not None
    }
    fields = ", ".join(f"'{name}', {sql}" for name, sql in named.items())
    ends = local(("ends",), ((f"named_struct({fields})",),)) if named else None
    for i, span in enumerate(spans):
        yield f"{' OR ' if i else ''}({value} IS NOT NULL"
        for end, compared in (("low", ">" if span.low_open else ">="), ("high", "<" if span.high_open else "<=")):
            if ends is not None and f"{end}_{i}" in named:
                known = f").{end}_{i}" if span.sure else f").{end}_{i}, false)"
                yield f" AND {'' if span.sure else 'coalesce('}{value} {compared} (SELECT ends FROM "
                yield from (ends, known)
        yield ")"


def outside_some(rows: Rows, several: Sequence[tuple[str, Iterable[Stretch]]]) -> Rows:
    """The rows of which, of several values (as SQL), each beside a few spans, one is in none of its spans."""
    ends = [tuple(f"span {number} {end}" for end in ENDS) for number, _ in enumerate(several)]
    table = _table(ends, product(*(known for _, known in several)))
    within = (_between(value, *map(quote, names)) for (value, _), names in zip(several, ends, strict=True))
    return rows.matching_on(table, " AND ".join(within), negated=True)


def inside(value: str, box: str) -> str:
    """The condition that a pattern matches a value."""
    return f"({box} IS NULL OR {_between(value, *(f'{box}.{end}' for end in ENDS))})"


def _between(value: str, low: str, high: str, low_open: str, high_open: str) -> str:
    above = f"({low} IS NULL OR {value} > {low} OR ({value} = {low} AND NOT {low_open}))"
    below = f"({high} IS NULL OR {value} < {high} OR ({value} = {high} AND NOT {high_open}))"
    return f"({value} IS NOT NULL AND {above} AND {below})"


def within(box: str, other: str) -> str:
    """The condition that a box's interval lies in another; every value of the attribute lies in no interval."""
    low = f"{box}.low > {other}.low OR ({box}.low = {other}.low AND ({box}.low_open OR NOT {other}.low_open))"
    high = (
        f"{box}.high < {other}.high OR ({box}.high = {other}.high AND ({box}.high_open OR NOT {other}.high_open))"
    )
    above, below = f"({other}.low IS NULL OR {low})", f"({other}.high IS NULL OR {high})"
    return f"({box} IS NOT NULL AND {above} AND {below})"
