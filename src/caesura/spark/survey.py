"""What a slice brings, in numbers: they steer how the rest of it is planned.

How many rows and punctuations of each kind there are, how many rows break a promise, how far an ordered column has
come. In the usual case nothing is broken, and nobody asks again; and what does not occur is left out of plans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.operators.intervals import NO_VALUE, Run, number
from caesura.operators.rows import Ends, Rows, quote, text, union, view
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.punctuations import kinds
from caesura.spark.sources import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

_BOUND, _PLAIN, _REPEATED, _ENDS = "bound of ", "plain ", "repeated ", "ends "
_FIRST, _LAST, _DIFFERENT, _KEYS = "first ", "last ", "different ", "keys "
_NEWEST, _OLDEST, _LEAST, _GREATEST = "newest ", "oldest ", "least ", "greatest "
_ADMITTED, _OF_KEY, _LATE = "admitted", "caesura: rows of key", "late"
_OF_PUNCTUATIONS = (_PLAIN, _FIRST, _LAST, _DIFFERENT)
_IS_ROW = f"{quote(PUNCTUATION)} IS NULL AND {quote(CORRUPT)} IS NULL"


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
        return sum(self.plain.values()) + self.others

    @property
    def broken(self) -> bool:
        """Whether a row breaks the contract."""
        return self.repeated > 0 or self.admitted < self.rows

    @property
    def ordinary(self) -> bool:
        """Whether what was found steers nothing but which plain punctuations and ends of keys are looked for."""
        return not (self.broken or self.corrupt or self.others or self.bounds)

    @property
    def dense(self) -> bool:
        """Whether values are closed without gaps: then it pays to know them before the rest is planned."""
        return any(values.gapless for values in (*self.plain_values.values(), *self.keys.values()))

    @property
    def sparse(self) -> bool:
        """Whether no column has so many plain punctuations that they could close values without gaps."""
        ends = ((self.plain[column], values.ends) for column, values in self.plain_values.items())
        return bool(self.plain) and all(number < last - first + 1 for number, (first, last) in ends)

    def forecast(self) -> Survey:
        """What the next slice will bring, if it is like this one: the same in other values."""
        return replace(self, plain_values={}, keys={}, ranges={})

    def foresees(self, found: Survey) -> bool:
        """Whether a plan made for this survey is right for what was found."""
        return (
            found.ordinary
            and self.rows >= min(found.rows, 1)
            and self.plain.keys() >= found.plain.keys()
            and self.ends >= found.ends
        )


def survey(spark: SparkSession, arrivals: Mapping[str, Arrivals], last: Mapping[str, Survey]) -> dict[str, Survey]:
    """All streams in one job, which gives a few rows of figures as JSON. Another is for streams with rows that may
    have been closed, and another where there are punctuations that are not plain, to read them.

    What the last slice brought tells whether a glance is likely to do, and whether it is worth while to count
    different values.
    """
    before = {name: last.get(name, Survey()) for name in arrivals}
    glanced = {name for name, each in arrivals.items() if each.ranges_tell and not before[name].near}
    found = _answers(
        spark,
        (
            rows
            for name, each in arrivals.items()
            for rows in (
                *(() if before[name].sparse else _plain(name, each)),
                *_questions(name, each, glance=name in glanced, plain=each.plain() if before[name].sparse else {}),
            )
        ),
    )
    near = {name: arrivals[name] for name in glanced if _near(found[name], arrivals[name])}
    again = _answers(spark, (rows for name, each in near.items() for rows in _questions(name, each)))
    # What is not found is not told: of a glance that was wrong nothing may stay.
    found |= {name: _of_punctuations(found[name]) | figures for name, figures in again.items()}
    surveys = {name: _survey(figures, arrivals[name]) for name, figures in found.items()}
    return {
        name: _with_others(spark, name, each, arrivals[name]) if each.others else each
        for name, each in surveys.items()
    }


def _answers(spark: SparkSession, questions: Iterable[Rows]) -> dict[str, dict[str, Any]]:
    """The figures found, by stream."""
    asked = union(questions)
    found: dict[str, dict[str, Any]] = {}
    for name, figures in asked.frame(spark).collect() if asked is not None else ():
        found.setdefault(name, {}).update(json.loads(figures))
    return found


def _of_punctuations(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {figure: value for figure, value in figures.items() if figure.startswith(_OF_PUNCTUATIONS)}


def _plain(name: str, arrivals: Arrivals) -> Iterator[Rows]:
    """How many punctuations are plain, of which attribute, and what they close, each value once."""
    if not (plain := arrivals.plain()):
        return
    figures: dict[str, str] = {}
    for column in plain:
        given = f" FILTER (WHERE {quote(column)} IS NOT NULL)"
        figures[f"{_PLAIN}{column}"] = f"coalesce(sum({quote(_OF_KEY)}){given}, 0)"
        figures[f"{_FIRST}{column}"] = f"min({quote(column)})"
        figures[f"{_LAST}{column}"] = f"max({quote(column)})"
        figures[f"{_DIFFERENT}{column}"] = f"count({quote(column)})"
    read = arrivals.raw.present([PUNCTUATION]).project(plain)
    yield _told(name, read.grouped(plain, {_OF_KEY: "count(*)"}).summary(figures))


def _values(value: str, which: str) -> str:
    """The first and the last of different numbers, and how many they are, as SQL."""
    found = (f"{figure}({value}){which}" for figure in ("min", "max", "count"))
    return f"IF(count({value}){which} > 0, array({', '.join(found)}), NULL)"


def _questions(
    name: str, arrivals: Arrivals, *, glance: bool = False, plain: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Rows]:
    """What else there is to know, of the rows that nothing forbids, and of plain punctuations, if they are given.

    A glance is one look at all rows: where the driver knows what is closed, or between which ends, the least and
    the greatest values may tell that none of them is forbidden.
    """
    contract, which = arrivals.contract, f" FILTER (WHERE {_IS_ROW})" if glance else ""
    closing = {_closed(column): value for column, value in plain.items()}
    raw = arrivals.raw.extended(closing) if closing else arrivals.raw
    measures = _counted() | _closing(plain)
    rows: Rows | None = raw
    if not glance:
        yield _told(name, raw.summary({figure: each.sql for figure, each in measures.items()}))
        rows, measures = arrivals.admitted(), {}
    if rows is None:
        return
    measures[_ADMITTED] = _Measure(f"count(*){which}", "sum")
    for i, ending in enumerate(contract.ending):
        measures[f"{_ENDS}{i}"] = _Measure(f"count_if({ending.condition.sql}){which}", "sum")
    for column in (each.column for each in contract.ordered):
        measures[f"{_NEWEST}{column}"] = _Measure(f"max({quote(column)}){which}", "max")
        measures[f"{_OLDEST}{column}"] = _Measure(f"min({quote(column)}){which}", "min")
    for column, value in contract.numbers.items():
        measures[f"{_LEAST}{column}"] = _Measure(f"min({value}){which}", "min")
        measures[f"{_GREATEST}{column}"] = _Measure(f"max({value}){which}", "max")
    if not contract.unique:
        yield _told(name, rows.summary({n: each.sql for n, each in measures.items()}), _derived(arrivals))
    for i, unique in enumerate(contract.unique):
        mine = measures if i == 0 else {}
        inner = {_OF_KEY: f"count(*){which}", **{_per_key(figure): each.sql for figure, each in mine.items()}}
        outer = {figure: each.of_groups(figure) for figure, each in mine.items()}
        # As in SQL, a key with NULL in it repeats nothing.
        given = " AND ".join(f"{quote(column)} IS NOT NULL" for column in unique.columns)
        outer[f"{_REPEATED}{i}"] = f"coalesce(sum(IF({given}, greatest({quote(_OF_KEY)} - 1, 0), 0)), 0)"
        if (key := contract.run_key(unique)) is not None:
            outer[f"{_KEYS}{i}"] = _values(number(*key), f" FILTER (WHERE {quote(_OF_KEY)} > 0)")
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
        figures[f"{_PLAIN}{column}"] = _Measure(f"count({value})", "sum")
        figures[f"{_FIRST}{column}"] = _Measure(f"min({value})", "min")
        figures[f"{_LAST}{column}"] = _Measure(f"max({value})", "max")
    return figures


def _derived(arrivals: Arrivals) -> dict[str, str]:
    """How far ordered columns have come, and whether a row comes late, as SQL over the newest and the oldest."""
    contract, promised = arrivals.contract, arrivals.past.promised
    bounds = {each.column: arrivals.bound(each, quote(f"{_NEWEST}{each.column}")) for each in contract.ordered}
    figures = {f"{_BOUND}{column}": f"CAST({bound} AS STRING)" for column, bound in bounds.items()}
    late = (
        f"{quote(f'{_OLDEST}{each.column}')} < {contract.literal(each, bound)}"
        for each in contract.ordered
        if (bound := promised.bounds.get(each.column)) is not None
    )
    figures[_LATE] = f"coalesce({' OR '.join(late) or 'false'}, false)"
    if (timed_by := contract.timed_by) is not None:
        figures["time"] = _micros(bounds[timed_by.column])
        if promised.time is None:
            figures["oldest"] = _micros(quote(f"{_OLDEST}{timed_by.column}"))
    return figures


def _near(figures: Mapping[str, Any], arrivals: Arrivals) -> bool:
    """Whether a row may be one that was closed before, as far as a glance can tell."""
    near = arrivals.past.closed.near(_ranges(figures, arrivals))
    runs = (each for known in near.known.values() for each in known if isinstance(each, Run))
    return bool(figures.get(_LATE) or near.points) or any(runs)


def _ranges(figures: Mapping[str, Any], arrivals: Arrivals) -> dict[str, Ends]:
    first, last = NO_VALUE
    return {
        column: (figures.get(f"{_LEAST}{column}", first), figures.get(f"{_GREATEST}{column}", last))
        for column in arrivals.contract.numbers
    }


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _told(name: str, summary: Rows, derived: Mapping[str, str] = MappingProxyType({})) -> Rows:
    """A row of the stream's name and the figures found in it, and what follows from them, as JSON."""
    told = ", ".join((*map(quote, summary.columns), *(f"{sql} AS {quote(f)}" for f, sql in derived.items())))
    return summary.project({"stream": text(name), "found": f"to_json(struct({told}))"})


def _survey(found: Mapping[str, Any], arrivals: Arrivals) -> Survey:
    plain = {name.removeprefix(_PLAIN): n for name, n in found.items() if name.startswith(_PLAIN) and n}
    return Survey(
        rows=found["rows"],
        admitted=found.get(_ADMITTED, 0),
        repeated=sum(n for name, n in found.items() if name.startswith(_REPEATED)),
        corrupt=found["corrupt"],
        bounds={name.removeprefix(_BOUND): value for name, value in found.items() if name.startswith(_BOUND)},
        time=found.get("time"),
        oldest=found.get("oldest"),
        ends=frozenset(int(name.removeprefix(_ENDS)) for name, n in found.items() if name.startswith(_ENDS) and n),
        plain=plain,
        plain_values={
            column: Values(
                found[f"{_FIRST}{column}"], found[f"{_LAST}{column}"], found.get(f"{_DIFFERENT}{column}")
            )
            for column in plain
        },
        keys={
            int(name.removeprefix(_KEYS)): Values(*each) for name, each in found.items() if name.startswith(_KEYS)
        },
        ranges=_ranges(found, arrivals),
        near=_near(found, arrivals),
        others=found["punctuations"] - sum(plain.values()),
    )


def _with_others(spark: SparkSession, name: str, survey: Survey, arrivals: Arrivals) -> Survey:
    """With the punctuations that are not plain, read, and how many there are of each kind. A job of its own cuts
    them off from the plan that read them, which is a large one."""
    counted = Observation()
    per_kind = (
        expr(f"count_if(kind = {text(kind)}) AS {quote(kind)}") for kind in kinds(arrivals.contract.store.keys)
    )
    parsed = arrivals.parsed().frame(spark).observe(counted, *per_kind).localCheckpoint(eager=True)
    found = {kind: n for kind, n in counted.get.items() if n}
    return replace(survey, parsed=view(parsed, f"punctuations: {name}"), kinds=found)
