"""What is asked of a slice: figures by name, as SQL, that come back as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from caesura.operators.intervals import number
from caesura.operators.rows import Rows, quote, text
from caesura.spark.inputs import IS_ROW, PUNCTUATION
from caesura.spark.lines import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

BOUND, PLAIN, ENDS = "bound of ", "plain ", "ends "
FIRST, LAST, DIFFERENT = "first ", "last ", "different "
KEYED, KEYS, FIRST_KEY, LAST_KEY = "rows with key ", "keys ", "lowest key ", "highest key "
RANGES, LEAST_OPEN = "ranges of ", "open from "
_NEWEST, _OLDEST, LEAST, GREATEST = "newest ", "oldest ", "least ", "greatest "
ADMITTED, _OF_KEY, LATE = "admitted", "caesura: rows of key", "late"
OF_PUNCTUATIONS = (PLAIN, FIRST, LAST, DIFFERENT)


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
    closing = {_closed(column): value for column, value in plain.items()}
    raw = arrivals.raw.extended(closing) if closing else arrivals.raw
    came = _counted() | _closing(plain) | _ranges(arrivals.bounds())
    if glance:
        yield _told(name, raw.summary(came | _of_rows(arrivals, f" FILTER (WHERE {IS_ROW})")), _derived(arrivals))
        rows: Rows | None = arrivals.data()
    else:
        yield _told(name, raw.summary(came))
        rows = arrivals.admitted()
        if rows is not None:
            yield _told(name, rows.summary(_of_rows(arrivals, "")), _derived(arrivals))
    if rows is not None:
        for i, unique in enumerate(arrivals.contract.unique):
            keys = rows.only(unique.columns).present(unique.columns).distinct()
            yield _told(name, keys.summary(_of_keys(arrivals, i)))


def _of_rows(arrivals: Arrivals, which: str) -> dict[str, str]:
    """What there is to know of rows one by one; `which` of them."""
    contract, figures = arrivals.contract, {ADMITTED: f"count(*){which}"}
    for i, unique in enumerate(contract.unique):  # as in SQL, a key with NULL in it repeats nothing
        figures[f"{KEYED}{i}"] = f"count({', '.join(map(quote, unique.columns))}){which}"
    for i, ending in enumerate(contract.ending):
        figures[f"{ENDS}{i}"] = f"count_if({ending.condition.sql}){which}"
    for column in (each.column for each in contract.ordered):
        figures[f"{_NEWEST}{column}"] = f"max({quote(column)}){which}"
        figures[f"{_OLDEST}{column}"] = f"min({quote(column)}){which}"
    for column, value in contract.numbers.items():
        figures[f"{LEAST}{column}"] = f"min({value}){which}"
        figures[f"{GREATEST}{column}"] = f"max({value}){which}"
    return figures


def _of_keys(arrivals: Arrivals, i: int) -> dict[str, str]:
    """How many different keys there are of the promise with this number, and if they may be known as a run, the
    first and the last."""
    figures = {f"{KEYS}{i}": "count(*)"}
    if (key := arrivals.contract.run_key(arrivals.contract.unique[i])) is not None:
        figures[f"{FIRST_KEY}{i}"] = f"min({number(*key)})"
        figures[f"{LAST_KEY}{i}"] = f"max({number(*key)})"
    return figures


def _closed(column: str) -> str:
    """The value that a plain punctuation closes, under a name that nobody declares."""
    return f"caesura: {column} of a punctuation"


def _counted() -> dict[str, str]:
    """How much there is of what."""
    return {
        "rows": f"count_if({IS_ROW})",
        "corrupt": f"count({quote(CORRUPT)})",
        "punctuations": f"count({quote(PUNCTUATION)})",
    }


def _closing(columns: Iterable[str]) -> dict[str, str]:
    """How many punctuations close values of these, and which. How many are different is not asked."""
    figures: dict[str, str] = {}
    for column in columns:
        value = quote(_closed(column))
        figures[f"{PLAIN}{column}"] = f"count({value})"
        figures[f"{FIRST}{column}"] = f"min({value})"
        figures[f"{LAST}{column}"] = f"max({value})"
    return figures


def _ranges(bounds: Mapping[str, str]) -> dict[str, str]:
    """How many ranges close all that is less than a value of these, and which the greatest of them leaves open."""
    figures: dict[str, str] = {}
    for column, bound in bounds.items():
        figures[f"{RANGES}{column}"] = f"count({bound})"
        figures[f"{LEAST_OPEN}{column}"] = f"max({bound})"
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


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _told(name: str, summary: Rows, derived: Mapping[str, str] = MappingProxyType({})) -> Rows:
    """A row of the stream's name and the figures found in it, and what follows from them, as JSON."""
    told = ", ".join((*map(quote, summary.columns), *(f"{sql} AS {quote(f)}" for f, sql in derived.items())))
    return summary.project({"stream": text(name), "found": f"to_json(struct({told}))"})
