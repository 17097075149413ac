"""What is asked of a slice: figures by name, as SQL, that come back as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from caesura.operators.intervals import number
from caesura.operators.rows import Rows, quote, text
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.lines import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

BOUND, PLAIN, REPEATED, ENDS = "bound of ", "plain ", "repeated ", "ends "
FIRST, LAST, DIFFERENT, KEYS = "first ", "last ", "different ", "keys "
RANGES, LEAST_OPEN = "ranges of ", "least open "
_NEWEST, _OLDEST, LEAST, GREATEST = "newest ", "oldest ", "least ", "greatest "
ADMITTED, _OF_KEY, LATE = "admitted", "caesura: rows of key", "late"
OF_PUNCTUATIONS = (PLAIN, FIRST, LAST, DIFFERENT)
_IS_ROW = f"{quote(PUNCTUATION)} IS NULL AND {quote(CORRUPT)} IS NULL"


def each_plain(name: str, arrivals: Arrivals) -> Iterator[Rows]:
    """How many punctuations are plain, of which attribute, and what they close, each value once."""
    if not (plain := arrivals.plain()):
        return
    figures: dict[str, str] = {}
    for column in plain:
        given = f" FILTER (WHERE {quote(column)} IS NOT NULL)"
        figures[f"{PLAIN}{column}"] = f"coalesce(sum({quote(_OF_KEY)}){given}, 0)"
        figures[f"{FIRST}{column}"] = f"min({quote(column)})"
        figures[f"{LAST}{column}"] = f"max({quote(column)})"
        figures[f"{DIFFERENT}{column}"] = f"count({quote(column)})"
    read = arrivals.raw.present([PUNCTUATION]).project(plain)
    yield _told(name, read.grouped(plain, {_OF_KEY: "count(*)"}).summary(figures))


def questions(
    name: str, arrivals: Arrivals, *, glance: bool = False, plain: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Rows]:
    """What else there is to know, of the rows that nothing forbids, and of plain punctuations, if they are given.

    A glance is one look at all rows: where the driver knows what is closed, or between which ends, the least and
    the greatest values may tell that none of them is forbidden.
    """
    contract, which = arrivals.contract, f" FILTER (WHERE {_IS_ROW})" if glance else ""
    closing = {_closed(column): value for column, value in plain.items()}
    raw = arrivals.raw.extended(closing) if closing else arrivals.raw
    measures = _counted() | _closing(plain) | _ranges(arrivals.bounds())
    rows: Rows | None = raw
    if not glance:
        yield _told(name, raw.summary({figure: each.sql for figure, each in measures.items()}))
        rows, measures = arrivals.admitted(), {}
    if rows is None:
        return
    measures[ADMITTED] = _Measure(f"count(*){which}", "sum")
    for i, ending in enumerate(contract.ending):
        measures[f"{ENDS}{i}"] = _Measure(f"count_if({ending.condition.sql}){which}", "sum")
    for column in (each.column for each in contract.ordered):
        measures[f"{_NEWEST}{column}"] = _Measure(f"max({quote(column)}){which}", "max")
        measures[f"{_OLDEST}{column}"] = _Measure(f"min({quote(column)}){which}", "min")
    for column, value in contract.numbers.items():
        measures[f"{LEAST}{column}"] = _Measure(f"min({value}){which}", "min")
        measures[f"{GREATEST}{column}"] = _Measure(f"max({value}){which}", "max")
    if not contract.unique:
        yield _told(name, rows.summary({n: each.sql for n, each in measures.items()}), _derived(arrivals))
    for i, unique in enumerate(contract.unique):
        mine = measures if i == 0 else {}
        inner = {_OF_KEY: f"count(*){which}", **{_per_key(figure): each.sql for figure, each in mine.items()}}
        outer = {figure: each.of_groups(figure) for figure, each in mine.items()}
        # As in SQL, a key with NULL in it repeats nothing.
        given = " AND ".join(f"{quote(column)} IS NOT NULL" for column in unique.columns)
        outer[f"{REPEATED}{i}"] = f"coalesce(sum(IF({given}, greatest({quote(_OF_KEY)} - 1, 0), 0)), 0)"
        if (key := contract.run_key(unique)) is not None:
            outer[f"{KEYS}{i}"] = _values(number(*key), f" FILTER (WHERE {quote(_OF_KEY)} > 0)")
        summary = rows.grouped(unique.columns, inner).summary(outer)
        yield _told(name, summary, _derived(arrivals) if i == 0 else {})


@dataclass(frozen=True)
class _Measure:
    """A figure as an aggregate over rows, and what makes the same of such figures of groups."""

    sql: str
    combine: Literal["sum", "min", "max"]

    def of_groups(self, name: str) -> str:
        combined = f"{self.combine}({quote(_per_key(name))})"
        return f"coalesce({combined}, 0)" if self.combine == "sum" else combined


def _per_key(figure: str) -> str:
    """A name that nobody declares."""
    return f"caesura: {figure} per key"


def _closed(column: str) -> str:
    """The value that a plain punctuation closes, under a name that nobody declares."""
    return f"caesura: {column} of a punctuation"


def _counted() -> dict[str, _Measure]:
    """How much there is of what."""
    return {
        "rows": _Measure(f"count_if({_IS_ROW})", "sum"),
        "corrupt": _Measure(f"count({quote(CORRUPT)})", "sum"),
        "punctuations": _Measure(f"count({quote(PUNCTUATION)})", "sum"),
    }


def _closing(columns: Iterable[str]) -> dict[str, _Measure]:
    """How many punctuations close values of these, and which. How many are different is not asked."""
    figures: dict[str, _Measure] = {}
    for column in columns:
        value = quote(_closed(column))
        figures[f"{PLAIN}{column}"] = _Measure(f"count({value})", "sum")
        figures[f"{FIRST}{column}"] = _Measure(f"min({value})", "min")
        figures[f"{LAST}{column}"] = _Measure(f"max({value})", "max")
    return figures


def _ranges(bounds: Mapping[str, str]) -> dict[str, _Measure]:
    """How many ranges close all that is less than a value of these, and which the greatest of them leaves open."""
    figures: dict[str, _Measure] = {}
    for column, bound in bounds.items():
        figures[f"{RANGES}{column}"] = _Measure(f"count({bound})", "sum")
        figures[f"{LEAST_OPEN}{column}"] = _Measure(f"max({bound})", "max")
    return figures


def _derived(arrivals: Arrivals) -> dict[str, str]:
    """How far ordered columns have come, and whether a row comes late, as SQL over the newest and the oldest."""
    contract, promised = arrivals.contract, arrivals.past.promised
    bounds = {each.column: arrivals.bound(each, quote(f"{_NEWEST}{each.column}")) for each in contract.ordered}
    figures = {f"{BOUND}{column}": f"CAST({bound} AS STRING)" for column, bound in bounds.items()}
    late = (
        f"{quote(f'{_OLDEST}{each.column}')} < {contract.literal(each, bound)}"
        for each in contract.ordered
        if (bound := promised.bounds.get(each.column)) is not None
    )
    figures[LATE] = f"coalesce({' OR '.join(late) or 'false'}, false)"
    if (timed_by := contract.timed_by) is not None:
        figures["time"] = _micros(bounds[timed_by.column])
        if promised.time is None:
            figures["oldest"] = _micros(quote(f"{_OLDEST}{timed_by.column}"))
    return figures


def _values(value: str, which: str) -> str:
    """The first and the last of different numbers, and how many they are, as SQL."""
    found = (f"{figure}({value}){which}" for figure in ("min", "max", "count"))
    return f"IF(count({value}){which} > 0, array({', '.join(found)}), NULL)"


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _told(name: str, summary: Rows, derived: Mapping[str, str] = MappingProxyType({})) -> Rows:
    """A row of the stream's name and the figures found in it, and what follows from them, as JSON."""
    told = ", ".join((*map(quote, summary.columns), *(f"{sql} AS {quote(f)}" for f, sql in derived.items())))
    return summary.project({"stream": text(name), "found": f"to_json(struct({told}))"})
