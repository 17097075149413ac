"""What a slice brings, in numbers: they steer how the rest of it is planned.

How many rows and punctuations of each kind there are, how many rows break a promise, how far an ordered column has
come. In the usual case nothing is broken, and nobody asks again; and what does not occur is left out of plans.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.operators.intervals import NO_VALUE, Run
from caesura.operators.rows import Ends, Rows, leaf, quote, text, union
from caesura.spark.figures import questions
from caesura.spark.punctuations import kinds

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals


@dataclass(frozen=True)
class Values:
    """Values of an enumerable type, as numbers, from the first to the last."""

    first: int
    last: int
    different: int | None
    """How many they are, if that was counted."""

    @property
    def ends(self) -> Ends:
        return self.first, self.last

    @property
    def gapless(self) -> bool:
        return self.different == self.last - self.first + 1


@dataclass(frozen=True)
class Survey:
    """The scalars found in a slice of one stream."""

    rows: int = 0
    admitted: int = 0
    repeated: int = 0
    corrupt: int = 0
    bounds: Mapping[str, str] = field(default_factory=dict)
    """How far ordered columns have come, as texts."""
    time: int | None = None
    """How far the stream has come by its own time, if it has one, in microseconds."""
    oldest: int | None = None
    """The oldest of that time, in the first slice that brings rows."""
    ends: frozenset[int] = frozenset()
    """Which promises CLOSED BY, by number, have a row that ends its key."""
    plain: Mapping[str, int] = field(default_factory=dict)
    """The attributes of which plain punctuations occur, and how many."""
    plain_values: Mapping[str, Values] = field(default_factory=dict)
    """What they close."""
    ranges_below: int = 0
    """How many punctuations close all that is less than a number."""
    least_open: Mapping[str, int] = field(default_factory=dict)
    """The greatest of these numbers."""
    keys: Mapping[int, Values] = field(default_factory=dict)
    """Of promises UNIQUE, by number: the keys in the slice, if they are of one column of an enumerable type."""
    ranges: Mapping[str, Ends] = field(default_factory=dict)
    """Of columns on which keys are closed: between which ends the values of the rows are."""
    near: bool = False
    """Whether that is near what was closed before, so that it does not tell whether a row is forbidden."""
    others: int = 0
    """How many punctuations are not plain."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Their kinds, and how many there are of each."""
    parsed: Rows | None = None
    """They, read."""

    @property
    def punctuations(self) -> int:
        return sum(self.plain.values()) + self.ranges_below + self.others

    @property
    def arrived(self) -> int:
        """Rows, readable or not, and punctuations."""
        return self.rows + self.corrupt + self.punctuations

    @property
    def broken(self) -> bool:
        """Whether a row breaks the contract."""
        return self.repeated > 0 or self.admitted < self.rows

    @property
    def dense(self) -> bool:
        """Whether some column has so many plain punctuations that they could close values without gaps; or, since
        there was none, nobody knows."""
        ends = ((self.plain[column], values.ends) for column, values in self.plain_values.items())
        return not self.punctuations or any(number > last - first for number, (first, last) in ends)


def survey(spark: SparkSession, arrivals: Mapping[str, Arrivals], last: Mapping[str, Survey]) -> dict[str, Survey]:
    """All streams in one job, which gives a few rows of figures as JSON. Another is for streams with rows that may
    have been closed, and another where there are punctuations that are not plain, to read them.

    What the last slice brought tells whether a glance is likely to do, and whether it is worth while to count
    different values.
    """
    glanced = {n for n, each in arrivals.items() if each.ranges_tell and not (n in last and last[n].near)}
    apart = {name for name in arrivals if name not in last or last[name].dense}

    def asked(names: Iterable[str], glanced: Collection[str]) -> Iterator[Rows]:
        for name in names:
            yield from questions(name, arrivals[name], glance=name in glanced, apart=name in apart)

    found = _answers(spark, asked(arrivals, glanced))
    near = [name for name in arrivals if name in glanced and _near(found[name], arrivals[name])]
    found |= _answers(spark, asked(near, ()))
    surveys = {name: _survey(figures, arrivals[name]) for name, figures in found.items()}
    return {
        name: _with_others(spark, each, arrivals[name]) if each.others else each for name, each in surveys.items()
    }


def _answers(spark: SparkSession, several: Iterable[Rows]) -> dict[str, dict[str, Any]]:
    """The figures found, by stream, then by kind, then of what."""
    asked = union(several)
    found: dict[str, dict[str, Any]] = {}
    for name, figures in asked.frame(spark).collect() if asked is not None else ():
        mine = found.setdefault(name, {})
        for kind, figure in json.loads(figures).items():
            mine[kind] = {**mine.get(kind, {}), **figure} if isinstance(figure, dict) else figure
    return found


def _near(found: Mapping[str, Any], arrivals: Arrivals) -> bool:
    """Whether a row may be one that was closed before, as far as a glance can tell."""
    near = arrivals.past.closed.near(_ranges(found, arrivals))
    runs = (each for known in near.known.values() for each in known if isinstance(each, Run))
    return bool(found.get("late") or near.points) or any(runs)


def _ranges(found: Mapping[str, Any], arrivals: Arrivals) -> dict[str, Ends]:
    least, greatest = (found.get(kind, {}) for kind in ("least", "greatest"))
    first, last = NO_VALUE
    return {column: (least.get(column, first), greatest.get(column, last)) for column in arrivals.contract.numbers}


def _survey(found: Mapping[str, Any], arrivals: Arrivals) -> Survey:
    def of(kind: str) -> dict[str, Any]:
        return {each: figure for each, figure in found.get(kind, {}).items() if figure}

    plain, keys, ranges_below = of("plain"), found.get("keys", {}), sum(of("ranges").values())
    return Survey(
        rows=found["rows"],
        admitted=found.get("admitted", 0),
        repeated=sum(n - keys[i] for i, n in of("keyed").items()),
        corrupt=found["corrupt"],
        bounds=of("bound"),
        time=found.get("time"),
        oldest=found.get("oldest time"),
        ends=frozenset(map(int, of("ends"))),
        plain=plain,
        plain_values={
            column: Values(found["first"][column], found["last"][column], of("different").get(column))
            for column in plain
        },
        ranges_below=ranges_below,
        least_open=found.get("open", {}),
        keys={int(i): Values(n, found["last key"][i], keys[i]) for i, n in found.get("first key", {}).items()},
        ranges=_ranges(found, arrivals),
        near=_near(found, arrivals),
        others=found["punctuations"] - sum(plain.values()) - ranges_below,
    )


def _with_others(spark: SparkSession, survey: Survey, arrivals: Arrivals) -> Survey:
    """With the punctuations that are not plain, read, and how many there are of each kind. A job of its own cuts
    them off from the plan that read them, which is a large one."""
    counted = Observation()
    per_kind = (
        expr(f"count_if(kind = {text(kind)}) AS {quote(kind)}") for kind in kinds(arrivals.contract.store.keys)
    )
    parsed = arrivals.parsed().frame(spark).observe(counted, *per_kind).localCheckpoint(eager=True)
    found = {kind: n for kind, n in counted.get.items() if n}
    return replace(survey, parsed=leaf(parsed), kinds=found)
