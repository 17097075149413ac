"""What a slice brings, in numbers: they steer how the rest of it is planned.

How many rows and punctuations of each kind there are, how many rows break a promise, how far an ordered column has
come. In the usual case nothing is broken, and nobody asks again; and what does not occur is left out of plans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.operators.intervals import Run, number
from caesura.operators.rows import Rows, quote, text, union, view
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.punctuations import kinds
from caesura.spark.sources import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

_BOUND, _PLAIN, _REPEATED, _ENDS = "bound of ", "plain ", "repeated ", "ends "
_RUN, _RUN_OF_KEY = "run ", "keys "
_NEWEST, _OLDEST, _LEAST, _GREATEST = "newest ", "oldest ", "least ", "greatest "
_ADMITTED, _OF_KEY, _LATE = "admitted", "rows of key", "late"
_IS_ROW = f"{quote(PUNCTUATION)} IS NULL AND {quote(CORRUPT)} IS NULL"


Ends: TypeAlias = tuple[int, int]


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
    plain_runs: Mapping[str, Ends] = field(default_factory=dict)
    """Those of which they are all values from a first to a last, and these, as numbers."""
    key_runs: Mapping[int, Ends] = field(default_factory=dict)
    """The promises UNIQUE, by number, whose keys in the slice are all values from a first to a last, and these."""
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
        return bool(self.plain_runs or self.key_runs)

    def foresees(self, found: Survey) -> bool:
        """Whether a plan made for this survey is right for what was found."""
        return (
            found.ordinary
            and self.rows >= min(found.rows, 1)
            and self.plain.keys() >= found.plain.keys()
            and self.ends >= found.ends
        )


def survey(spark: SparkSession, arrivals: Mapping[str, Arrivals]) -> dict[str, Survey]:
    """All streams in one job, which gives a few rows of figures as JSON. Another is for streams with rows that may
    have been closed, and another where there are punctuations that are not plain, to read them."""
    found = _answers(
        spark,
        (
            rows
            for name, each in arrivals.items()
            for rows in (*_plain(name, each), *_questions(name, each, glance=each.all_known))
        ),
    )
    late = {name: each for name, each in arrivals.items() if each.all_known and _late(found[name], each)}
    again = _answers(spark, (rows for name, each in late.items() for rows in _questions(name, each, glance=False)))
    # What is not found is not told: of a glance that was wrong nothing may stay.
    found |= {name: _of_punctuations(found[name]) | figures for name, figures in again.items()}
    surveys = {name: _survey(figures) for name, figures in found.items()}
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
    return {figure: value for figure, value in figures.items() if figure.startswith((_PLAIN, _RUN))}


def _plain(name: str, arrivals: Arrivals) -> Iterator[Rows]:
    """How many punctuations are plain, of which attribute, and whether their values follow one another."""
    if not (plain := arrivals.plain()):
        return
    which = " ".join(f"WHEN {quote(column)} IS NOT NULL THEN {text(column)}" for column in plain)
    value = f"coalesce({', '.join(f'CAST({quote(column)} AS BIGINT)' for column in plain)})"
    read = arrivals.raw.present([PUNCTUATION]).project(plain)
    values = read.project({"which": f"CASE {which} END", "value": value}).present(["value"])
    figures: dict[str, str] = {}
    for column in plain:
        mine = f" FILTER (WHERE which = {text(column)})"
        figures[f"{_PLAIN}{column}"] = f"coalesce(sum({quote(_OF_KEY)}){mine}, 0)"
        figures[f"{_RUN}{column}"] = _run("value", mine)
    yield _told(name, values.grouped(["which", "value"], {_OF_KEY: "count(*)"}).summary(figures))


def _run(value: str, which: str) -> str:
    """The first and the last of different numbers, if none between them is missing, as SQL."""
    first, last = f"min({value}){which}", f"max({value}){which}"
    gapless = f"count({value}){which} = try_add(try_subtract({last}, {first}), 1L)"
    return f"IF({gapless}, array({first}, {last}), NULL)"


def _questions(name: str, arrivals: Arrivals, *, glance: bool) -> Iterator[Rows]:
    """What else there is to know, of the rows that nothing forbids.

    A glance is one look at all rows: where the driver knows all that is closed, the least and the greatest values
    mostly tell that none of them is forbidden.
    """
    contract, which = arrivals.contract, f" FILTER (WHERE {_IS_ROW})" if glance else ""
    rows = arrivals.raw if glance else arrivals.admitted()
    measures = _counted()
    if not glance:
        yield _told(name, arrivals.raw.summary({figure: each.sql for figure, each in measures.items()}))
        measures = {}
    if rows is None:
        return
    measures[_ADMITTED] = _Measure(f"count(*){which}", "sum")
    for i, ending in enumerate(contract.ending):
        measures[f"{_ENDS}{i}"] = _Measure(f"count_if({ending.condition.sql}){which}", "sum")
    for column in (each.column for each in contract.ordered):
        measures[f"{_NEWEST}{column}"] = _Measure(f"max({quote(column)}){which}", "max")
        measures[f"{_OLDEST}{column}"] = _Measure(f"min({quote(column)}){which}", "min")
    for column, value in arrivals.numbers.items() if glance else ():
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
            outer[f"{_RUN_OF_KEY}{i}"] = _run(number(*key), f" FILTER (WHERE {quote(_OF_KEY)} > 0)")
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
    """A name that no column is likely to have."""
    return f"{figure} per key"


def _counted() -> dict[str, _Measure]:
    """How much there is of what."""
    return {
        "rows": _Measure(f"count_if({_IS_ROW})", "sum"),
        "corrupt": _Measure(f"count({quote(CORRUPT)})", "sum"),
        "punctuations": _Measure(f"count({quote(PUNCTUATION)})", "sum"),
    }


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


def _late(figures: Mapping[str, Any], arrivals: Arrivals) -> bool:
    """Whether a row may be one that was closed before, as far as a glance can tell."""
    met = (
        run.meets(figures[f"{_LEAST}{column}"], figures[f"{_GREATEST}{column}"])
        for column in arrivals.numbers
        if f"{_LEAST}{column}" in figures
        for run in arrivals.past.closed.known[column]
        if isinstance(run, Run)
    )
    return bool(figures.get(_LATE)) or any(met)


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _told(name: str, summary: Rows, derived: Mapping[str, str] = MappingProxyType({})) -> Rows:
    """A row of the stream's name and the figures found in it, and what follows from them, as JSON."""
    told = ", ".join((*map(quote, summary.columns), *(f"{sql} AS {quote(f)}" for f, sql in derived.items())))
    return summary.project({"stream": text(name), "found": f"to_json(struct({told}))"})


def _survey(found: Mapping[str, Any]) -> Survey:
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
        plain_runs={name.removeprefix(_RUN): tuple(ends) for name, ends in found.items() if name.startswith(_RUN)},
        key_runs={
            int(name.removeprefix(_RUN_OF_KEY)): tuple(ends)
            for name, ends in found.items()
            if name.startswith(_RUN_OF_KEY)
        },
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
