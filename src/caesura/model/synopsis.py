"""What a join keeps of an input instead of its rows, as bags: the meaning of `operators/synopsis.py`.

With duplicates it is the same bag with values beyond all constants replaced by one that stands for them; equal
rows are one row with a number. Without, one row of each combination, or two.
"""

from __future__ import annotations

from collections.abc import Iterable

from caesura.model.operator import Row, Rows
from caesura.safety.synopsis import Extreme, Key, Synopsis


def kept(synopsis: Synopsis, rows: Iterable[Row]) -> Rows:
    if synopsis.empty:
        return ()
    known = tuple(Row.of({name: row[name] for name in synopsis.columns}) for row in rows)
    if synopsis.duplicates:
        return tuple(_clamped(synopsis, row) for row in known)
    if not synopsis.greatest and not synopsis.least:
        return tuple(dict.fromkeys(_clamped(synopsis, row) for row in known))
    alike: dict[object, list[Row]] = {}
    for row in known:
        alike.setdefault(_combination(synopsis, row), []).append(row)
    return tuple(row for several in alike.values() for row in dict.fromkeys(_chosen(synopsis, several)))


def _chosen(synopsis: Synopsis, rows: list[Row]) -> Iterable[Row]:
    """The row that joins whatever any of these does: its least column that must be great is greatest, or its
    greatest that must be small is least."""
    keys = {key.column: key for key in synopsis.keys}
    if synopsis.greatest:
        yield max(rows, key=lambda row: min(_counting(synopsis.greatest, keys, row), default=0))
    if synopsis.least:
        yield min(rows, key=lambda row: max(_counting(synopsis.least, keys, row), default=0))


def _counting(extremes: Iterable[Extreme], keys: dict[str, Key], row: Row) -> list[int]:
    """The values that count: where constants divide a column, those beyond them."""
    found: list[int] = []
    for each in extremes:
        value, key = _number(row[each.column]), keys.get(each.column)
        below = key is not None and key.low is not None and value <= key.low
        above = key is not None and key.high is not None and value >= key.high
        if key is None or (below and each.below) or (above and each.above):
            found.append(value)
    return found


def _combination(synopsis: Synopsis, row: Row) -> object:
    clamped = _clamped(synopsis, row)
    orders = (
        (_number(row[x]) > _number(row[y])) - (_number(row[x]) < _number(row[y])) for x, y in synopsis.ordered
    )
    return tuple(clamped[key.column] for key in synopsis.keys), tuple(orders)


def _clamped(synopsis: Synopsis, row: Row) -> Row:
    return Row.of({**row, **{key.column: _within(key, row[key.column]) for key in synopsis.keys}})


def _within(key: Key, value: object) -> object:
    if key.low is not None and _number(value) < key.low:
        return key.low
    if key.high is not None and _number(value) > key.high:
        return key.high
    return value


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
