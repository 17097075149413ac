"""What is asked of a slice: figures, as SQL, that come back as JSON, by kind and of what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from caesura.operators.intervals import number
from caesura.operators.rows import Rows, quote, text
from caesura.spark.inputs import IS_ROW, PUNCTUATION
from caesura.spark.lines import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

Figures: TypeAlias = dict[tuple[str, ...], str]
"""(kind,) or (kind, of which column or which promise) → SQL."""
_OF_KEY = "caesura: rows of key"
_OF, _KEY, _BLOCK, _BITS, _ROWS, _LEAST, _GREATEST = "of", "number", "block", "bits", "rows", "least", "greatest"

_OF_PLAIN = {"plain": "count", "first": "min", "last": "max"}


def questions(name: str, arrivals: Arrivals, *, glance: bool, apart: bool) -> Iterator[Rows]:
    """How much there is of what, and what there is to know of the rows that nothing forbids.

    A glance is one look at all rows: where the driver knows what is closed, or between which ends, the least and
    the greatest values may tell that none of them is forbidden. `apart`: of plain punctuations it is also counted
    how many different values they close.
    """
    came, plain = _counted() | _ranges(arrivals.bounds()), arrivals.plain()
    if not (apart or arrivals.brought.much):
        came |= _of_plain(plain)
    if glance:
        which = f" FILTER (WHERE {IS_ROW} AND {arrivals.in_domain})"
        yield _told(name, arrivals.raw, came | _of_rows(arrivals, which), _derived(arrivals))
        rows: Rows | None = arrivals.within()
    else:
        yield _told(name, arrivals.raw, came)
        rows = arrivals.admitted()
        if rows is not None:
            yield _told(name, rows, _of_rows(arrivals, ""), _derived(arrivals))
    if rows is not None:
        for i, unique in enumerate(arrivals.contract.unique):  # as in SQL, a key with NULL in it repeats nothing
            keys = rows.only(unique.columns).present(unique.columns)
            key = arrivals.contract.run_key(unique)
            if key is None:
                counted: Figures = {("keyed", f"{i}"): f"sum({quote(_OF_KEY)})", ("keys", f"{i}"): "count(*)"}
                yield _told(name, keys.grouped(unique.columns, {_OF_KEY: "count(*)"}), counted)
            else:
                blocks = _blocks(keys.project({_KEY: number(*key)}))
                yield _told(name, blocks, _of_blocks(f"{i}", ("keyed", "keys", "first key", "last key")))
    if apart and plain:
        blocks = _blocks(_closing(arrivals.plain_points), _OF)
        kinds = ("plain", "different", "first", "last")
        each = (_of_blocks(column, kinds, f" FILTER (WHERE {_OF} = {text(column)})") for column in plain)
        yield _told(name, blocks, {figure: sql for figures in each for figure, sql in figures.items()})
    elif plain and arrivals.brought.much:
        yield _told(name, arrivals.plain_points, _of_plain({column: quote(column) for column in plain}))


def _of_rows(arrivals: Arrivals, which: str) -> Figures:
    """What there is to know of rows one by one; `which` of them."""
    contract = arrivals.contract
    figures: Figures = {("admitted",): f"count(*){which}"}
    for i, ending in enumerate(contract.ending):
        figures["ends", f"{i}"] = f"count_if({ending.condition.sql}){which}"
    for column in (each.column for each in contract.ordered):
        figures["newest", column] = f"max({quote(column)}){which}"
        figures["oldest", column] = f"min({quote(column)}){which}"
    for column, value in contract.numbers.items():
        figures["least", column] = f"min({value}){which}"
        figures["greatest", column] = f"max({value}){which}"
    return figures


def _of_plain(plain: Mapping[str, str]) -> Figures:
    return {(kind, c): f"{function}({sql})" for c, sql in plain.items() for kind, function in _OF_PLAIN.items()}


def _closing(points: Rows) -> Rows:
    """What plain punctuations close: of which column which number."""
    closes = (f"struct({text(c)} AS {_OF}, CAST({quote(c)} AS BIGINT) AS {_KEY})" for c in points.columns)
    read = points.exploded({"closed": f"array({', '.join(closes)})"})
    return read.project({_OF: f"closed.{_OF}", _KEY: f"closed.{_KEY}"}).present([_KEY])


def _blocks(keys: Rows, *of: str) -> Rows:
    """Keys that are numbers, in blocks of 64, with a bit for every key that is there. Of keys that lie close to
    one another these are few, and they are never more than the keys."""
    numbers = keys.extended({_BLOCK: f"shiftright({_KEY}, 6)"})
    bits = f"bit_or(shiftleft(1L, CAST({_KEY} & 63 AS INT)))"
    ends = {_LEAST: f"min({_KEY})", _GREATEST: f"max({_KEY})"}
    return numbers.grouped([*of, _BLOCK], {_BITS: bits, _ROWS: "count(*)", **ends})


def _of_blocks(of: str, kinds: tuple[str, str, str, str], which: str = "") -> Figures:
    """How many keys there are, how many different ones, the first and the last; `which` of them."""
    found = (f"sum({_ROWS})", f"sum(bit_count({_BITS}))", f"min({_LEAST})", f"max({_GREATEST})")
    return {(kind, of): f"{sql}{which}" for kind, sql in zip(kinds, found, strict=True)}


def _counted() -> Figures:
    """How much there is of what."""
    return {
        ("rows",): f"count_if({IS_ROW})",
        ("corrupt",): f"count({quote(CORRUPT)})",
        ("punctuations",): f"count({quote(PUNCTUATION)})",
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
