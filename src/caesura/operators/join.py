"""The inner join of n inputs; the binary join is n = 2.

emit: all matches; keep: a row stays while a future partner could still complete it; pass on: an input's p, once
no kept row of that input matches it. No intermediate result is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from caesura.operators.chain import Chain, Hop, Purge
from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.conditions import Condition, Conditions
from caesura.operators.operator import Change, Changes, Flow, State, StateTable, all_end
from caesura.operators.rows import Rows, union
from caesura.operators.store import Store, passed_on
from caesura.operators.synopsis import Given, Synopsis


@dataclass(frozen=True)
class Side:
    """One input of a join."""

    table: StateTable
    finite: bool
    keys: tuple[str, ...]
    """Its columns in equalities."""
    able: str
    """The condition that a row can join at all: no NULL in a column that is compared, and one value where there
    must be one."""
    purge: tuple[Chain, ...] | None
    """In which orders its rows ask the other streams whether a partner may still come. A row may go as soon as one
    of them says no. None: unproven."""
    exports: Mapping[str, str]
    """Its attributes that readers of the result ask punctuations on → the (equal) result column they know."""
    pending: Store | None
    """Punctuations that wait until no kept row matches them; None if nobody asks for them."""
    release: Hop | None = None
    """What the input itself must have passed so that its rows are given up, partner or not."""
    synopsis: Synopsis | None = None
    """What is kept instead of rows that never leave."""

    @property
    def asked(self) -> frozenset[int]:
        return frozenset(hop.input for chain in self.purge or () for hop in chain)


@dataclass(frozen=True)
class Join:
    prompt: ClassVar[bool] = True

    name: str
    sides: tuple[Side, ...]
    equalities: tuple[tuple[str, str], ...]
    residual: tuple[Condition, ...]
    """All else that must hold between columns of different inputs."""
    classes: tuple[frozenset[str], ...]
    """Of columns that are equal wherever rows meet."""
    passed: Store | None = None
    """The history of what was passed on, if a reader needs it."""
    given: Given | None = None
    """What readers get, if not all columns as they are."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        rows = tuple(side.table for side in self.sides if not side.finite)
        stores = (*(side.pending for side in self.sides), self.passed)
        return rows + tuple(table for store in stores if store is not None for table in store.tables)

    @cached_property
    def conditions(self) -> Conditions:
        columns = tuple(tuple(column.name for column in side.table.columns) for side in self.sides)
        return Conditions(columns, self.equalities, self.residual, self.classes)

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        old = [self._held(state, i, flow) for i, flow in enumerate(inputs)]
        arrived = [None if side.finite else self._arrived(state, inputs, i) for i, side in enumerate(self.sides)]
        matches = self.conditions.added(old, arrived, self.conditions.owner)
        return matches if matches is None or self.given is None else self.given.of(matches)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        changes: dict[str, Change] = {}
        for i, side in enumerate(self.sides):
            if side.finite:
                continue
            if side.synopsis is not None:
                changes |= self._summed(state, inputs, i, side.synopsis)
                continue
            held = state[side.table.name]
            idle = inputs[i].rows is None and not self.closed_now(inputs, i)
            if idle and (held.compact or not held.rewrite):
                continue
            anew = self.anew(state, inputs, i)
            judged = union((held.due, inputs[i].rows))
            rows = self._kept(state, inputs, i) if anew else self.purged(state, inputs, i, judged)
            changes[side.table.name] = Change(rows, anew)
        return changes

    def _summed(self, state: State, inputs: tuple[Flow, ...], i: int, synopsis: Synopsis) -> Changes:
        name, new = self.sides[i].table.name, self._arrived(state, inputs, i)
        held = state[name]
        if self._last(inputs, i):
            return {name: Change(None, rewrite=True)}
        if new is None and held.compact:
            return {}
        if not held.rewrite:
            return {name: Change(new, rewrite=False)}
        both = union((held.rows, new))
        return {name: Change(None if both is None else synopsis.merged(both), rewrite=True)}

    def _last(self, inputs: tuple[Flow, ...], i: int) -> bool:
        """Whether no partner of input i comes any more, whatever it is."""
        others = (flow for j, flow in enumerate(inputs) if j != i and not self.sides[j].finite)
        return all(flow.closed.everything for flow in others)

    def _arrived(self, state: State, inputs: tuple[Flow, ...], i: int) -> Rows | None:
        """The slice's rows of input i, or a synopsis of them."""
        side = self.sides[i]
        # What stands for values beyond the constants is compared rightly with what all conditions leave of others.
        rows = inputs[i].rows if self.given is None else self.able(i, inputs[i].rows)
        if side.synopsis is None or rows is None:
            return rows
        return state.share(f"new {side.table.name}", side.synopsis.of(rows))

    def anew(self, state: State, inputs: tuple[Flow, ...], i: int) -> bool:
        """Whether the slice writes the rows of an input anew, or appends to them."""
        side = self.sides[i]
        ended = any(inputs[j].new.everything for j in side.asked)
        return state[side.table.name].rewrite or ended

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        new, changes = NOTHING, dict[str, Change]()
        for i, (side, flow) in enumerate(zip(self.sides, inputs, strict=True)):
            if side.pending is None:
                continue
            if waiting := side.pending.read(state) | flow.new.confined(side.exports):
                free, held = side.pending.freed(state, waiting, self._kept(state, inputs, i))
                new, changes = new | free.renamed(side.exports), {**changes, **held}
        streams = (flow for side, flow in zip(self.sides, inputs, strict=True) if not side.finite)
        passed, history = passed_on(new | all_end(streams), self.passed, state)
        return passed, {**changes, **history}

    def closed_now(self, inputs: tuple[Flow, ...], i: int) -> bool:
        """Whether this slice brings a punctuation that may purge rows of input i."""
        side = self.sides[i]
        return any(inputs[j].new for j in (side.asked if side.release is None else {*side.asked, i}))

    def _held(self, state: State, i: int, flow: Flow) -> Rows | None:
        if not self.sides[i].finite:
            return self.stored(state, i)
        return flow.finite if self.given is None else self.able(i, flow.finite)

    def tables_of(self, i: int) -> tuple[StateTable, ...]:
        """Where rows of input i are."""
        return (self.sides[i].table,)

    def stored(self, state: State, i: int) -> Rows | None:
        """The rows of input i that wait for partners."""
        return state[self.sides[i].table.name].rows

    def _kept(self, state: State, inputs: tuple[Flow, ...], i: int) -> Rows | None:
        """All rows of input i that stay: those held before, and the slice's."""
        side = self.sides[i]
        if side.synopsis is not None:
            return None if self._last(inputs, i) else self.present(state, inputs, i)
        rows = self.purged(state, inputs, i, self.present(state, inputs, i))
        if rows is None or side.pending is None:
            return rows
        return state.share(f"kept {side.table.name}", rows)

    def purged(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """Those of these rows of input i that stay."""
        rows = self.awaited(state, inputs, i, rows)
        return rows if self.sides[i].release is None else uncovered(rows, self.given_up(inputs, i))

    def given_up(self, inputs: tuple[Flow, ...], i: int) -> Closed:
        """By what rows of input i are released, partner or not. That it has ended does not say how late it is."""
        release = self.sides[i].release
        return NOTHING if release is None else release.translated(replace(inputs[i].closed, everything=False))

    def awaited(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """Those of these rows of input i that a future partner could still complete, by every order of asking."""
        rows = self.able(i, rows)
        purge = self._purge(state, inputs, i)
        for chain in self.sides[i].purge or ():
            rows = None if rows is None else purge.awaited(rows, chain)
        return rows

    def _purge(self, state: State, inputs: tuple[Flow, ...], i: int) -> Purge:
        mine = self.sides[i]
        asked = {column for chain in mine.purge or () for hop in chain for column in hop.asks}
        compared = {*mine.keys, *(column for column in asked if self.conditions.owner[column] == i)}
        return Purge(
            self.conditions,
            i,
            sorted(compared),
            finite={j: self.able(j, inputs[j].finite) for j, side in enumerate(self.sides) if side.finite},
            rows={j: self.present(state, inputs, j) for j in mine.asked},
            closed={j: inputs[j].closed for j in mine.asked},
        )

    def present(self, state: State, inputs: tuple[Flow, ...], i: int) -> Rows | None:
        """All rows of input i before the purge that can join at all: those held, and the slice's."""
        summed = self.sides[i].synopsis is not None
        new = self._arrived(state, inputs, i) if summed else self.able(i, inputs[i].rows)
        return union((self.stored(state, i), new))

    def able(self, i: int, rows: Rows | None) -> Rows | None:
        """Those of these rows of input i that can join at all; none of them has NULL in a key."""
        return None if rows is None else rows.where(self.sides[i].able).filling(self.sides[i].keys)

    def unexpired(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """Those of these rows of input i that windows alone, whatever else is closed, do not let go."""
        purge = self._purge(state, inputs, i)
        purge = replace(purge, closed={j: replace(each, everything=False) for j, each in purge.closed.items()})
        for chain in self.sides[i].purge or ():
            if rows is not None and chain and all(hop.most for hop in chain):
                rows = purge.awaited(rows, tuple(replace(hop, pins={}, constants={}) for hop in chain))
        return rows

    def alone(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """The rows of input i whose only partner, a stream, has none for them and will have none."""
        match self.sides[i].purge:
            case ((hop,),) if rows is not None and len(self.sides) == 2:
                closed = covered(rows, hop.translated(inputs[hop.input].closed))
                partners = self.present(state, inputs, hop.input)
                if closed is None or partners is None:
                    return closed
                return closed.matching_on(partners, self.conditions.sql, negated=True)
            case _:
                return None
