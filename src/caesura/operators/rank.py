"""ROW_NUMBER, RANK and DENSE_RANK over partitions.

emit: the rows of each partition that some p confined to its columns matches, with their numbers; pass on: those p;
keep: the rows of the others that are within the limit. With a bound that rises with the first key, a row is also
emitted when the bound has passed it, and of an open partition is kept the number that it has come to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.operators.sort import spelled
from caesura.operators.store import Store, passed_on
from caesura.plan import SortKey

CAME = "came out"
"""In the table: of an open partition, the number after which its next rows are counted on. NULL in all rows."""
_PLACE = "place"


@dataclass(frozen=True)
class Rank:
    prompt: ClassVar[bool] = False

    table: StateTable
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    places: tuple[SortKey, ...]
    """The order, and what decides where it leaves rows equal."""
    function: str
    result: str
    limit: int | None
    released: Store
    """The punctuations since the table was last written anew: what they cover has been emitted."""
    passed: Store | None = None
    passing: bool = False
    """Whether rows are emitted before their partition is closed."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table, *self.released.tables, *(self.passed.tables if self.passed else ()))

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        due = self._due(state, source)
        return None if due is None else due.without(CAME, _PLACE)

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        (source,) = inputs
        held, closing = state[self.table.name], self._closing(source)
        if source.rows is None and held.compact and not closing:
            return {}
        anew = held.rewrite or closing.everything
        if self._apart(closing):
            waiting = self._numbered(uncovered(self._open(state, source) if anew else self._new(source), closing))
        else:
            waiting = uncovered(self._first(state, source) if anew else self._numbered(self._new(source)), closing)
        if waiting is not None:
            waiting = waiting.only(column.name for column in self.table.columns)
        counters = self._counters(state, source, self._open(state, source) if anew else None)
        released = self.released.replace(state, NOTHING) if anew else self.released.append(state, closing)
        return {self.table.name: Change(union((waiting, counters)), anew), **released}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return passed_on(self._closing(source), self.passed, state)

    def _closing(self, source: Flow) -> Closed:
        """What lets go of rows: it speaks of whole partitions or, with `passing`, of all their first rows."""
        if not self.passing:
            return source.new.confined(self.partition)
        first = self.order[0].column
        begun = source.new.confined((*self.partition, first)).up_to({first: quote(first)})
        return replace(begun, terms={})

    def _apart(self, closing: Closed) -> bool:
        """Whether it is known of each row by itself on which side it is: rows that stay and rows that are due are
        of other partitions, and each of two jobs numbers its own."""
        return closing.at_hand and not self.passing

    def _due(self, state: State, source: Flow) -> Rows | None:
        closing = self._closing(source)
        if self._apart(closing):
            return self._numbered(covered(self._open(state, source), closing))
        return covered(self._first(state, source), closing) if closing else None

    def _first(self, state: State, source: Flow) -> Rows | None:
        """The first rows of all partitions, numbered: where some are due, two jobs read them."""
        first = self._numbered(self._open(state, source))
        if first is None or not self._closing(source):
            return first
        return state.share(f"first of {self.table.name}", first)

    def _open(self, state: State, source: Flow) -> Rows | None:
        """The rows not yet emitted, and what is known of open partitions: of one there may be several numbers."""
        held = uncovered(state[self.table.name].rows, self.released.read(state))
        return union((held, self._new(source)))

    def _new(self, source: Flow) -> Rows | None:
        if source.rows is None or not self.passing:
            return source.rows
        return source.rows.extended({CAME: "CAST(NULL AS BIGINT)"})

    def _numbered(self, rows: Rows | None) -> Rows | None:
        """The rows within the limit. A partition that has come to some number counts on from there."""
        if rows is None:
            return None
        conditions = [] if self.limit is None else [f"{quote(self.result)} <= {self.limit}"]
        if not self.passing:
            numbered = rows.extended({self.result: f"{self.function}() OVER ({self._spec()})"})
        else:
            came = f"coalesce(max({quote(CAME)}) OVER ({_by(map(quote, self.partition))}), 0)"
            place = f"{came} + ROW_NUMBER() OVER ({self._spec()})"
            number = f"CAST({came} + {self.function}() OVER ({self._spec()}) AS INT)"
            more = {_PLACE: place} if self.function == "RANK" else {}
            numbered = rows.extended({self.result: number, **more})
            conditions.append(f"{quote(CAME)} IS NULL")
        return numbered.where(" AND ".join(conditions)) if conditions else numbered

    def _spec(self) -> str:
        apart = [f"{quote(CAME)} IS NULL"] if self.passing else []
        keys = self.places if self.function == "ROW_NUMBER" else self.order
        return f"{_by((*map(quote, self.partition), *apart))} ORDER BY {', '.join(map(spelled, keys))}"

    def _counters(self, state: State, source: Flow, known: Rows | None) -> Rows | None:
        """The numbers that open partitions have come to by the rows that are due, and as far as was known."""
        if not self.passing:
            return None
        own = {name: quote(name) for name in self.partition}
        place = quote(_PLACE if self.function == "RANK" else self.result)
        due = self._due(state, source)
        came = (
            None if known is None else known.where(f"{quote(CAME)} IS NOT NULL").only((*own, CAME)),
            None if due is None else due.project({**own, CAME: f"CAST({place} AS BIGINT)"}),
        )
        open_ = uncovered(union(came), self._closing(source).confined(self.partition))
        return None if open_ is None else open_.grouped(self.partition, {CAME: f"max({quote(CAME)})"})


def _by(terms: Iterable[str]) -> str:
    listed = ", ".join(terms)
    return f"PARTITION BY {listed}" if listed else ""
