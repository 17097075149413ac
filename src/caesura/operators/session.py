"""Sessions with partial aggregates.

emit: the result of each session that some p matches which is confined to the keys and the time, and closes all
times up to its end; pass on: those p, of the end in the place of the time; keep: the partial aggregates of the
other sessions.

What is stored may be parts of sessions that a later row has joined. So all are joined before any is asked for: of
two parts that are one session the first may well end before the bound that the whole has not reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.group import Partial
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.operators.store import Store, passed_on
from caesura.plan import SESSION_END, SESSION_START

_FARTHEST, _ISLAND = "farthest end before", "number of the session"


@dataclass(frozen=True)
class Session:
    prompt: ClassVar[bool] = False

    table: StateTable
    time: str
    gap: str
    """As SQL that can be added to the time."""
    keys: tuple[str, ...]
    partials: tuple[Partial, ...]
    results: Mapping[str, str]
    """Result column → SQL over the merged partials."""
    released: Store
    """The punctuations since the table was last written anew: what they cover has been emitted."""
    passed: Store | None = None

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (self.table, *self.released.tables, *(self.passed.tables if self.passed else ()))

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        closing = self._closing(inputs)
        complete = covered(self._open(state, inputs), closing) if closing else None
        if complete is None:
            return None
        return complete.project({**{name: quote(name) for name in self._whole}, **self.results})

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        (source,) = inputs
        held, closing = state[self.table.name], self._closing(inputs)
        if source.rows is None and held.compact and not closing:
            return {}
        if held.rewrite or closing.everything:
            rest = uncovered(self._open(state, inputs), closing)
            return {self.table.name: Change(rest, rewrite=True), **self.released.replace(state, NOTHING)}
        # A new session that is closed by itself may be part of one that is not.
        return {
            self.table.name: Change(self._new(state, inputs), rewrite=False),
            **self.released.append(state, closing),
        }

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        return passed_on(self._closing(inputs), self.passed, state)

    @property
    def _whole(self) -> tuple[str, ...]:
        """The columns that tell a session from the others."""
        return (*self.keys, SESSION_START, SESSION_END)

    def _closing(self, inputs: tuple[Flow, ...]) -> Closed:
        """No row comes that is as late as the end of a session, or earlier: it is complete."""
        (source,) = inputs
        names = {**{key: key for key in self.keys}, self.time: SESSION_END}
        return source.new.confined(names).up_to({self.time: quote(SESSION_END)}).renamed(names)

    def _new(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The sessions that the slice's rows make by themselves: one job keeps them, another lets sessions out."""
        (source,) = inputs
        if source.rows is None:
            return None
        time = quote(self.time)
        alone = source.rows.present([self.time]).extended(
            {SESSION_START: time, SESSION_END: f"{time} + {self.gap}"}
        )
        joined = self._joined(alone, {p.column.name: p.from_rows for p in self.partials})
        once = state[self.table.name].rewrite or not self._parts(inputs)
        return joined if once else state.share(f"new {self.table.name}", joined)

    def _open(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """The sessions not yet emitted, those of this slice with them: all are written anew, or those read that
        come out."""
        parts = union((state[self.table.name].rows, self._new(state, inputs)))
        if parts is None:
            return None
        joined = self._joined(parts, {p.column.name: p.merge for p in self.partials})
        still = uncovered(joined, self.released.read(state))
        once = not (state[self.table.name].rewrite and self._parts(inputs))
        return still if still is None or once else state.share(f"open {self.table.name}", still)

    def _parts(self, inputs: tuple[Flow, ...]) -> bool:
        """Whether some sessions come out and others stay."""
        closing = self._closing(inputs)
        return bool(closing) and not closing.everything

    def _joined(self, parts: Rows, aggregated: Mapping[str, str]) -> Rows:
        """One session of all that overlap or touch: a row that comes as late as the end still belongs to it."""
        of = f"PARTITION BY {', '.join(map(quote, self.keys))} " if self.keys else ""
        order = f"{of}ORDER BY {quote(SESSION_START)}"
        farthest = quote(_FARTHEST)
        before = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
        starts = f"{farthest} IS NULL OR {quote(SESSION_START)} > {farthest}"
        return (
            parts.extended({_FARTHEST: f"max({quote(SESSION_END)}) OVER ({order} {before})"})
            .extended({_ISLAND: f"sum(int({starts})) OVER ({order} RANGE UNBOUNDED PRECEDING)"})
            .grouped(
                [*self.keys, _ISLAND],
                {
                    SESSION_START: f"min({quote(SESSION_START)})",
                    SESSION_END: f"max({quote(SESSION_END)})",
                    **aggregated,
                },
            )
            .without(_ISLAND)
        )
