"""What is asked of a slice: figures, as SQL, that come back as JSON, by kind and of what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from caesura.operators.intervals import number
from caesura.operators.rows import Rows, quote, text
from caesura.spark.inputs import IS_ROW, PUNCTUATION
from caesura.spark.lines import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

Figures: TypeAlias = dict[tuple[str, ...], str]
"""(kind,) or (kind, of which column or which promise) → SQL."""
OF_PUNCTUATIONS = ("plain", "first", "last", "different")
"""The kinds of figures of plain punctuations: of each column how many, and what they close."""
_OF_KEY = "caesura: rows of key"
_KEY, _BLOCK, _BITS, _LEAST, _GREATEST = "number", "block", "bits", "least", "greatest"


def each_plain(name: str, arrivals: Arrivals) -> Iterator[Rows]:
    """How many punctuations are plain, of which attribute, and what they close, each value once."""
    if not (plain := arrivals.plain()):
        return
    figures: Figures = {}
    for column in plain:
        given = f" FILTER (WHERE {quote(column)} IS NOT NULL)"
        figures["plain", column] = f"coalesce(sum({quote(_OF_KEY)}){given}, 0)"
        figures["first", column] = f"min({quote(column)})"
        figures["last", column] = f"max({quote(column)})"
        figures["different", column] = f"count({quote(column)})"
    read = arrivals.raw.present([PUNCTUATION]).project(plain)
    yield _told(name, read.grouped(plain, {_OF_KEY: "count(*)"}), figures)


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
        which = f" FILTER (WHERE {IS_ROW} AND {arrivals.in_domain})"
        yield _told(name, raw, came | _of_rows(arrivals, which), _derived(arrivals))
        rows: Rows | None = arrivals.within()
    else:
        yield _told(name, raw, came)
        rows = arrivals.admitted()
        if rows is not None:
            yield _told(name, rows, _of_rows(arrivals, ""), _derived(arrivals))
    if rows is not None:
        for i, unique in enumerate(arrivals.contract.unique):
            keys = rows.only(unique.columns).present(unique.columns)
            key = arrivals.contract.run_key(unique)
            if key is None:
                yield _told(name, keys.distinct(), {("keys", f"{i}"): "count(*)"})
            else:
                yield _told(name, _blocks(keys, number(*key)), _of_blocks(i))


def _of_rows(arrivals: Arrivals, which: str) -> Figures:
    """What there is to know of rows one by one; `which` of them."""
    contract = arrivals.contract
    figures: Figures = {("admitted",): f"count(*){which}"}
    for i, unique in enumerate(contract.unique):  # as in SQL, a key with NULL in it repeats nothing
        figures["keyed", f"{i}"] = f"count({', '.join(map(quote, unique.columns))}){which}"
    for i, ending in enumerate(contract.ending):
        figures["ends", f"{i}"] = f"count_if({ending.condition.sql}){which}"
    for column in (each.column for each in contract.ordered):
        figures["newest", column] = f"max({quote(column)}){which}"
        figures["oldest", column] = f"min({quote(column)}){which}"
    for column, value in contract.numbers.items():
        figures["least", column] = f"min({value}){which}"
        figures["greatest", column] = f"max({value}){which}"
    return figures


def _blocks(keys: Rows, number: str) -> Rows:
    """Keys that are numbers, in blocks of 64, with a bit for every key that is there. Of keys that lie close to
    one another these are few, and they are never more than the keys."""
    bit = f"shiftleft(1L, CAST({quote(_KEY)} & 63 AS INT))"
    numbers = keys.project({_KEY: number, _BLOCK: f"shiftright({number}, 6)"})
    ends = {_LEAST: f"min({quote(_KEY)})", _GREATEST: f"max({quote(_KEY)})"}
    return numbers.grouped([_BLOCK], {_BITS: f"bit_or({bit})", **ends})


def _of_blocks(i: int) -> Figures:
    """How many different keys there are of the promise with this number, the first and the last."""
    return {
        ("keys", f"{i}"): f"coalesce(sum(bit_count({_BITS})), 0)",
        ("first key", f"{i}"): f"min({_LEAST})",
        ("last key", f"{i}"): f"max({_GREATEST})",
    }


def _closed(column: str) -> str:
    """The value that a plain punctuation closes, under a name that nobody declares."""
    return f"caesura: {column} of a punctuation"


def _counted() -> Figures:
    """How much there is of what."""
    return {
        ("rows",): f"count_if({IS_ROW})",
        ("corrupt",): f"count({quote(CORRUPT)})",
        ("punctuations",): f"count({quote(PUNCTUATION)})",
    }


def _closing(columns: Iterable[str]) -> Figures:
    """How many punctuations close values of these, and which. How many are different is not asked."""
    values = {column: quote(_closed(column)) for column in columns}
    functions = {"plain": "count", "first": "min", "last": "max"}
    return {
        (kind, c): f"{function}({value})" for c, value in values.items() for kind, function in functions.items()
    }


def _ranges(bounds: Mapping[str, str]) -> Figures:
    """How many ranges close all that is less than a value of these, and which the greatest of them leaves open."""
    functions = {"ranges": "count", "open": "max"}
    return {
        (kind, c): f"{function}({bound})" for c, bound in bounds.items() for kind, function in functions.items()
    }


def _derived(arrivals: Arrivals) -> Figures:
    """How far ordered columns have come, and whether a row comes late, as SQL over the newest and the oldest."""
    contract, promised = arrivals.contract, arrivals.past.promised
    bounds = {each.column: arrivals.bound(each, _column("newest", each.column)) for each in contract.ordered}
    figures: Figures = {("bound", column): f"CAST({bound} AS STRING)" for column, bound in bounds.items()}
    late = (
        f"{_column('oldest', each.column)} < {contract.literal(each, bound)}"
        for each in contract.ordered
        if (bound := promised.bounds.get(each.column)) is not None
    )
    figures["late",] = f"coalesce({' OR '.join(late) or 'false'}, false)"
    if (timed_by := contract.timed_by) is not None:
        figures["time",] = _micros(bounds[timed_by.column])
        if promised.time is None:
            figures["oldest time",] = _micros(_column("oldest", timed_by.column))
    return figures


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _told(name: str, rows: Rows, figures: Figures, derived: Figures | None = None) -> Rows:
    """A row of the stream's name and the figures found in its rows, and what follows from them, as JSON."""
    summary = rows.summary({" of ".join(figure): sql for figure, sql in figures.items()})
    kinds: dict[str, list[str]] = {}
    told: list[str] = []
    for (kind, *of), sql in ({figure: _column(*figure) for figure in figures} | (derived or {})).items():
        if of:
            kinds.setdefault(kind, []).append(f"{sql} AS {quote(*of)}")
        else:
            told.append(f"{sql} AS {quote(kind)}")
    told += (f"struct({', '.join(each)}) AS {quote(kind)}" for kind, each in kinds.items())
    return summary.project({"stream": text(name), "found": f"to_json(struct({', '.join(told)}))"})


def _column(*figure: str) -> str:
    """Of the summary."""
    return quote(" of ".join(figure))
