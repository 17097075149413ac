"""The relational counterparts of the operators, as SQL defines them, over bags of plain tuples.

Written to be read beside the standard: no slices, no state, no punctuations. None is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

from tests.property.traces import Bag, Values

Results: TypeAlias = list[Values]
Binary: TypeAlias = Callable[[Bag, Bag], Results]
Condition: TypeAlias = Callable[..., bool]  # of the values of both rows


def alike(one: object, other: object) -> bool:
    """`one = other` is true, not unknown."""
    return one is not None and one == other


def select(rows: Bag) -> Results:
    """WHERE v > 0"""
    return [(k, v) for k, v in rows if isinstance(v, int) and v > 0]


def project(rows: Bag) -> Results:
    """SELECT k AS x, k AS y, v IS NULL AS z"""
    return [(k, k, v is None) for k, v in rows]


def rising(rows: Bag) -> Results:
    """SELECT k + 1, k DIV 2, v"""
    return [(k + 1, k // 2, v) if isinstance(k, int) else (None, None, v) for k, v in rows]


def signed(k: object) -> object:
    """As years are written: with one digit, or else with a sign, which comes before all digits."""
    if not isinstance(k, int):
        return None
    return f"+{k}" if k > 9 else str(k)


def written(rows: Bag) -> Results:
    """SELECT k as a text, v"""
    return [(signed(k), v) for k, v in rows]


def distinct(rows: Bag) -> Results:
    return list(dict.fromkeys(rows))


def merge(*inputs: Bag) -> Results:
    return [row for rows in inputs for row in rows]


def union(left: Bag, right: Bag) -> Results:
    return distinct(left + right)


def intersect(left: Bag, right: Bag) -> Results:
    return [row for row in distinct(left) if row in right]


def except_(left: Bag, right: Bag) -> Results:
    return [row for row in distinct(left) if row not in right]


def inner(on: Condition) -> Binary:
    return lambda one, other: [a + b for a in one for b in other if on(*a, *b)]


def semi(on: Condition) -> Binary:
    return lambda one, other: [a for a in one if any(on(*a, *b) for b in other)]


def anti(on: Condition) -> Binary:
    return lambda one, other: [a for a in one if not any(on(*a, *b) for b in other)]


def left(on: Condition) -> Binary:
    return lambda one, other: inner(on)(one, other) + _without_right(on, one, other)


def right(on: Condition) -> Binary:
    return lambda one, other: inner(on)(one, other) + _without_left(on, one, other)


def full(on: Condition) -> Binary:
    return lambda one, other: left(on)(one, other) + _without_left(on, one, other)


def _without_right(on: Condition, one: Bag, other: Bag) -> Results:
    return [(*a, None, None) for a in one if not any(on(*a, *b) for b in other)]


def _without_left(on: Condition, one: Bag, other: Bag) -> Results:
    return [(None, None, *b) for b in other if not any(on(*a, *b) for a in one)]


def aggregates(rows: list[Values]) -> Values:
    """Of the last attribute."""
    v: list[Any] = [row[-1] for row in rows if row[-1] is not None]
    some = (sum(v), sum(v) / len(v), min(v), max(v), median(v)) if v else (None,) * 5
    return (len(rows), len(v), *some, len(set(v)))


def group(keys: int) -> Callable[[Bag], Results]:
    """The first `keys` attributes are grouped by, the last is aggregated; without keys there is one group."""

    def g(rows: Bag) -> Results:
        found = dict.fromkeys(row[:keys] for row in rows) if keys else {(): None}
        return [key + aggregates([row for row in rows if row[:keys] == key]) for key in found]

    return g


def rank(
    function: str, place: Callable[[Values], tuple[Any, ...]], keys: int, most: int | None
) -> Callable[[Bag], Results]:
    """function() OVER (PARTITION BY the first attribute ORDER BY …), with at most this number.

    `place` has the whole order of rows, of which the first `keys` are those of ORDER BY.
    """

    def number(mine: tuple[Any, ...], before: int, others: list[tuple[Any, ...]]) -> int:
        ahead = [other for other in others if other < mine]
        return {"ROW_NUMBER": before, "RANK": len(ahead), "DENSE_RANK": len(set(ahead))}[function] + 1

    def g(rows: Bag) -> Results:
        found: Results = []
        for first in dict.fromkeys(row[0] for row in rows):
            ours = sorted((row for row in rows if row[0] == first), key=place)
            keyed = [place(row)[:keys] for row in ours]
            numbers = (number(key, n, keyed) for n, key in enumerate(keyed))
            found += ((*row, n) for row, n in zip(ours, numbers, strict=True) if most is None or n <= most)
        return found

    return g


def session(keys: int, gap: int) -> Callable[[Bag], Results]:
    """The attribute after the first `keys` is the time: a session goes on while the next row is within the gap."""

    def g(rows: Bag) -> Results:
        timed: list[Any] = sorted((row for row in rows if row[keys] is not None), key=lambda row: row[keys])
        results: Results = []
        for key in dict.fromkeys(row[:keys] for row in timed):
            mine = [row for row in timed if row[:keys] == key]
            starts = [n for n, row in enumerate(mine) if not n or row[keys] - mine[n - 1][keys] > gap]
            for first, after in pairwise((*starts, len(mine))):
                last = mine[after - 1][keys]
                results.append((*key, mine[first][keys], last + gap, *aggregates(mine[first:after])))
        return results

    return g


def sort(rows: Bag) -> Results:
    """ORDER BY k NULLS LAST, v DESC NULLS FIRST"""

    def place(row: Values) -> tuple[Any, ...]:
        k, v = row
        return (k is None, k or 0, v is not None, -v if isinstance(v, int) else 0)

    return sorted(rows, key=place)


def frame(rows: Bag) -> Results:
    """Of (k, t, v), or of (t, v) in one partition, PARTITION BY k ORDER BY t NULLS FIRST, v DESC NULLS LAST:

    COUNT(*) and SUM(v) ROWS 1 PRECEDING; LAG(v, 2, t); COUNT(*) and MAX(v) over the whole past and its peers;
    LAST_VALUE(v) IGNORE NULLS and FIRST_VALUE(v) over the whole past; LAST_VALUE(v) of its peers.
    """

    def place(row: Values) -> tuple[Any, ...]:
        *_, t, v = row
        return (t is not None, t or 0, v is None, -v if isinstance(v, int) else 0)

    def over(mine: Results, i: int) -> Values:
        *_, t, v = mine[i]
        pair, past = mine[max(i - 1, 0) : i + 1], mine[: i + 1]
        whole = [row for row in mine if place(row) <= place(mine[i])]
        return (
            len(pair),
            sum(there(pair)) if there(pair) else None,
            mine[i - 2][-1] if i >= 2 else t,
            len(whole),
            max(there(whole), default=None),
            next(iter(there(past)[::-1]), None),
            mine[0][-1],
            v,
        )

    found: Results = []
    for key in dict.fromkeys(row[:-2] for row in rows):
        mine = sorted((row for row in rows if row[:-2] == key), key=place)
        found += [row + over(mine, i) for i, row in enumerate(mine)]
    return found


def near(rows: Bag) -> Results:
    """Of (k, t, v), for each row, PARTITION BY k ORDER BY t: COUNT(*), COUNT(v) and FIRST_VALUE(v) over RANGE 1
    PRECEDING, where rows of one t are in the order of v; and how many there are of this t."""
    found: Results = []
    for k, t, v in rows:
        mine = [row for row in rows if row[0] == k]
        frame = [
            row
            for row in mine
            if row[1] == t
            or (isinstance(t, int | float) and isinstance(row[1], int | float) and 0 <= t - row[1] <= 1)
        ]
        first = min(frame, key=lambda row: (row[1] or 0, row[2] is not None, row[2] or 0))
        found.append((k, t, v, len(frame), len(there(frame)), first[2], sum(row[1] == t for row in mine)))
    return found


def there(rows: Results) -> list[Any]:
    """What is not NULL of the last attribute."""
    return [row[-1] for row in rows if row[-1] is not None]
