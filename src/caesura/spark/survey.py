"""What a slice brings, in numbers: they steer how the rest of it is planned.

How many rows and punctuations of each kind there are, how many rows break a promise, how far an ordered column has
come. In the usual case nothing is broken, and nobody asks again; and what does not occur is left out of plans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.operators.intervals import number
from caesura.operators.rows import Rows, quote, text, union, view
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.punctuations import kinds
from caesura.spark.sources import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.arrivals import Arrivals

_BOUND, _PLAIN, _REPEATED, _ENDS = "bound of ", "plain ", "repeated ", "ends "
_RUN, _RUN_OF_KEY = "run ", "keys "
_OF_KEY, _LATE = "rows of key", "late"
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
    """All streams in one job, which gives a few rows of figures as JSON. Where there are punctuations that are not
    plain, another job reads them."""
    found = _answers(
        spark,
        (
            rows
            for name, each in arrivals.items()
            for rows in (
                *_plain(name, each),
                *((_glance(name, each),) if each.only_ordered else _questions(name, each)),
            )
        ),
    )
    late = {name: arrivals[name] for name, figures in found.items() if figures.get(_LATE)}
    found |= _answers(spark, (rows for name, each in late.items() for rows in _questions(name, each)))
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


def _counted(arrivals: Arrivals) -> dict[str, str]:
    """How much there is of what, without a look at the rows."""
    return {
        "rows": f"count_if({_IS_ROW})",
        "corrupt": f"count({quote(CORRUPT)})",
        "punctuations": f"count({quote(PUNCTUATION)})",
    }


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
        mine = f"FILTER (WHERE which = {text(column)})"
        figures[f"{_PLAIN}{column}"] = f"coalesce(sum({quote(_OF_KEY)}) {mine}, 0)"
        figures[f"{_RUN}{column}"] = _run("value", mine)
    yield _asked(name, values.grouped(["which", "value"], {_OF_KEY: "count(*)"}), figures)


def _run(value: str, mine: str = "") -> str:
    """The first and the last of different numbers, if none between them is missing, as SQL."""
    first, last = f"min({value}) {mine}", f"max({value}) {mine}"
    gapless = f"count({value}) {mine} = try_add(try_subtract({last}, {first}), 1L)"
    return f"IF({gapless}, array({first}, {last}), NULL)"


def _glance(name: str, arrivals: Arrivals) -> Rows:
    """One look where a row can break the contract only by being late: if the oldest is not, none is."""
    rows = f" FILTER (WHERE {_IS_ROW})"
    oldest = {o.column: f"min({quote(o.column)}){rows}" for o in arrivals.contract.ordered}
    late = (
        f"{oldest[o.column]} < {arrivals.contract.literal(o, bound)}"
        for o in arrivals.contract.ordered
        if (bound := arrivals.past.promised.bounds.get(o.column)) is not None
    )
    figures = {**_counted(arrivals), "admitted": f"count_if({_IS_ROW})", **_bounds(arrivals, rows)}
    figures[_LATE] = f"coalesce({' OR '.join(late) or 'false'}, false)"
    if (timed_by := arrivals.contract.timed_by) is not None and arrivals.past.promised.time is None:
        figures["oldest"] = _micros(oldest[timed_by.column])
    return _asked(name, arrivals.raw, figures)


def _bounds(arrivals: Arrivals, which: str = "") -> dict[str, str]:
    """How far ordered columns have come; `which` says with what rows, if not all."""
    contract = arrivals.contract
    bounds = {f"{_BOUND}{o.column}": f"CAST({arrivals.bound(o, which)} AS STRING)" for o in contract.ordered}
    if contract.timed_by is not None:
        bounds["time"] = _micros(arrivals.bound(contract.timed_by, which))
    return bounds


def _questions(name: str, arrivals: Arrivals) -> Iterator[Rows]:
    yield _asked(name, arrivals.raw, _counted(arrivals))
    if (admitted := arrivals.admitted()) is None:
        return
    contract, ordered, bounds = arrivals.contract, arrivals.contract.ordered, _bounds(arrivals)
    if (timed_by := contract.timed_by) is not None and arrivals.past.promised.time is None:
        yield _asked(name, admitted, {"oldest": _micros(f"min({quote(timed_by.column)})")})
    ends = {f"{_ENDS}{i}": f"count_if({each.condition.sql})" for i, each in enumerate(contract.ending)}
    if not contract.unique:
        yield _asked(name, admitted, {"admitted": "count(*)", **bounds, **ends})
    for i, unique in enumerate(contract.unique):
        newest = {o.column: f"max({quote(o.column)})" for o in ordered if o.column not in unique.columns}
        per_key = admitted.grouped(unique.columns, {_OF_KEY: "count(*)", **newest, **(ends if i == 0 else {})})
        # As in SQL, a key with NULL in it repeats nothing.
        given = " AND ".join(f"{quote(column)} IS NOT NULL" for column in unique.columns)
        repeated = {f"{_REPEATED}{i}": f"sum(IF({given}, {quote(_OF_KEY)} - 1, 0))"}
        if (key := contract.run_key(unique)) is not None:
            repeated[f"{_RUN_OF_KEY}{i}"] = _run(number(*key))
        of_all = {"admitted": f"sum({quote(_OF_KEY)})", **bounds, **{e: f"sum({quote(e)})" for e in ends}}
        yield _asked(name, per_key, {**repeated, **(of_all if i == 0 else {})})


def _micros(time: str) -> str:
    """Not known of a date that is too far off for a time."""
    return f"unix_micros(TRY_CAST({time} AS TIMESTAMP))"


def _asked(name: str, rows: Rows, figures: Mapping[str, str]) -> Rows:
    """A row of the stream's name and some of the figures found in it, as JSON."""
    summary = rows.summary(figures)
    return summary.project({"stream": text(name), "found": f"to_json(struct({', '.join(map(quote, figures))}))"})


def _survey(found: Mapping[str, Any]) -> Survey:
    plain = {name.removeprefix(_PLAIN): n for name, n in found.items() if name.startswith(_PLAIN) and n}
    return Survey(
        rows=found["rows"],
        admitted=found.get("admitted", 0),
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
