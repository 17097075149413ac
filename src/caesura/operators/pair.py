"""Joins of two inputs whose lonely rows matter: outer, semi and anti joins, INTERSECT and EXCEPT.

emit: for outer joins all matches, for semi joins a row of the first input at its first partner; and the *lonely*
rows, padded with NULLs, once no partner can come. keep: a row while the other input may still send a partner; of a
semi or anti join a row of the first input only until its first partner. pass on: an input's p, once no kept row of
that input matches it.

A partner may leave before the row that met it. So it is remembered which rows have met one, by the columns that
decide who meets whom. A semi or anti join lets go of such a row anyway, and remembers it only until its table is
written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from caesura.catalog import Column
from caesura.operators.chain import Hop
from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable, all_end
from caesura.operators.rows import Rows, quote, union
from caesura.operators.store import Store, passed_on


@dataclass(frozen=True)
class Half:
    """One input of a pair."""

    name: str
    columns: tuple[Column, ...]
    """Those that are needed: of the second input of a semi or anti join only the deciding ones."""
    deciding: tuple[str, ...]
    """The columns that decide which partners a row has: rows that agree in them have the same."""
    able: str
    """The condition that a row can have a partner at all."""
    closing: Hop
    """What the other input must have closed so that a row has no partner to come."""
    lonely: bool
    """Whether its rows come out without a partner."""
    finite: bool
    """Whether it never changes and its rows do not come out by themselves, so that nothing is stored of it."""
    remembers: bool
    """Whether it matters which of its rows have met a partner."""
    exports: Mapping[str, str] = field(default_factory=dict)
    """Its attributes that readers of the result ask punctuations on → the result column they know."""
    pending: Store | None = None
    """Punctuations that wait until no kept row matches them; None if nobody asks for them."""
    eager: bool = False
    """Whether rows that are done with must leave at once, since their keys may come again."""

    @property
    def table(self) -> StateTable:
        return StateTable(self.name, self.columns, eager=self.eager)

    @property
    def met(self) -> StateTable:
        return StateTable(f"{self.name}, met", tuple(c for c in self.columns if c.name in self.deciding))

    @property
    def tables(self) -> tuple[StateTable, ...]:
        rows = () if self.finite else (self.table, self.met) if self.remembers else (self.table,)
        return (*rows, *(self.pending.tables if self.pending is not None else ()))


@dataclass(frozen=True)
class Pair:
    prompt: ClassVar[bool] = False

    halves: tuple[Half, Half]
    condition: str
    """Who meets whom."""
    matches: bool
    """Whether pairs come out, or rows of the first input alone."""
    semi: bool = False
    """Whether a row of the first input comes out at its first partner."""
    second: Mapping[str, str] = field(default_factory=dict)
    """New names for the second input's columns where both inputs have the same."""
    passed: Store | None = None

    @property
    def tables(self) -> tuple[StateTable, ...]:
        passed = self.passed.tables if self.passed is not None else ()
        return (*(table for half in self.halves for table in half.tables), *passed)

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        one, other = sides = self._sides(state, inputs)
        out = [self._padded(i, side.unable) for i, side in enumerate(sides)]
        if self.matches:
            out += (self._joined(one.new, other.all), self._joined(one.old, other.new))
        elif self.semi:
            out += (self._meeting(one.new, other.all), self._meeting(one.unmet(one.old), other.new))
        return union(out)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        sides = self._sides(state, inputs)
        out: list[Rows | None] = []
        for i, side in enumerate(sides):
            if side.half.lonely:
                due = union((covered(side.open, side.closed_now), covered(side.new, side.closed)))
                out.append(self._padded(i, self._meeting(side.unmet(due), sides[1 - i].all, negated=True)))
        return union(out)

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        sides = self._sides(state, inputs)
        changes: dict[str, Change] = {}
        for i, side in enumerate(sides):
            other = sides[1 - i]
            idle = side.new is None and not side.closed_now and (other.new is None or not side.half.remembers)
            if side.half.finite or (side.compact and idle):
                continue
            rows = self._kept(state, i, sides) if side.rewrite else self._awaiting(i, side.new, sides)
            if i == 1 and not self.matches and rows is not None:
                rows = rows.distinct()
            changes[side.half.table.name] = Change(rows, side.rewrite)
            if side.half.remembers:
                changes[side.half.met.name] = self._met(state, i, sides)
        return changes

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        sides = self._sides(state, inputs)
        new, changes = NOTHING, dict[str, Change]()
        for i, (half, flow) in enumerate(zip(self.halves, self._flows(inputs), strict=True)):
            if half.pending is None:
                continue
            waiting = half.pending.read(state) | flow.new.confined(half.exports)
            if self.matches and self.halves[1 - i].lonely:
                waiting = _not_all(waiting)
            if waiting:
                free, held = half.pending.freed(state, waiting, self._kept(state, i, sides))
                new, changes = new | free.renamed(half.exports), {**changes, **held}
        passed, history = passed_on(new | all_end(inputs), self.passed, state)
        return passed, {**changes, **history}

    def _flows(self, inputs: tuple[Flow, ...]) -> tuple[Flow, Flow]:
        one, other = inputs
        if not self.second:
            return one, other
        rows, finite = (None if each is None else each.renamed(self.second) for each in (other.rows, other.finite))
        return one, Flow(rows, other.new.renamed(self.second), other.before.renamed(self.second), finite)

    def _sides(self, state: State, inputs: tuple[Flow, ...]) -> tuple[_Side, _Side]:
        one, other = self._flows(inputs)
        return _side(state, self.halves[0], one, other), _side(state, self.halves[1], other, one)

    def _joined(self, one: Rows | None, other: Rows | None) -> Rows | None:
        return None if one is None or other is None else one.join(other, self.condition)

    def _meeting(self, rows: Rows | None, others: Rows | None, *, negated: bool = False) -> Rows | None:
        """The rows that have a partner among the others, or none."""
        if rows is None or others is None:
            return rows if negated else None
        return rows.matching_on(others, self.condition, negated=negated)

    def _padded(self, i: int, rows: Rows | None) -> Rows | None:
        if rows is None or not self.matches:
            return rows
        nulls = {column.name: f"CAST(NULL AS {column.type})" for column in self.halves[1 - i].columns}
        columns = [column.name for half in self.halves for column in half.columns]
        return rows.project({name: nulls.get(name, quote(name)) for name in columns})

    def _kept(self, state: State, i: int, sides: tuple[_Side, _Side]) -> Rows | None:
        """All rows of input i that stay."""
        rows = self._awaiting(i, sides[i].unmet(sides[i].open) if self._once(i) else sides[i].open, sides)
        rows = union((rows, self._awaiting(i, sides[i].new, sides)))
        if rows is None or sides[i].half.pending is None:
            return rows
        return state.share(f"kept {sides[i].half.name}", rows)

    def _once(self, i: int) -> bool:
        """Whether a row is of no use once it has had a partner."""
        return i == 0 and not self.matches

    def _awaiting(self, i: int, rows: Rows | None, sides: tuple[_Side, _Side]) -> Rows | None:
        """The rows for which a partner may still come, and matters."""
        still_open = uncovered(rows, sides[i].closed)
        return self._meeting(still_open, sides[1 - i].all, negated=True) if self._once(i) else still_open

    def _met(self, state: State, i: int, sides: tuple[_Side, _Side]) -> Change:
        side, other = sides[i], sides[1 - i]
        if self._once(i) and side.rewrite:
            return Change(None, rewrite=True)
        now = self._meeting(side.old, other.new)
        if not self._once(i):
            now = union((now, self._meeting(side.new, other.all)))
        rows = None if now is None else now.only(side.half.deciding)
        anew = state[side.half.met.name].rewrite
        if anew:
            rows = union((side.had, rows))
        still_open = uncovered(rows, side.closed)
        return Change(None if still_open is None else still_open.distinct(), anew)


@dataclass(frozen=True)
class _Side:
    """One input as a slice sees it."""

    half: Half
    old: Rows | None
    new: Rows | None
    unable: Rows | None
    had: Rows | None
    before: Closed
    """What the other input had closed before, in the columns of this one."""
    closed_now: Closed
    compact: bool
    rewrite: bool

    @property
    def closed(self) -> Closed:
        return self.before | self.closed_now

    @property
    def all(self) -> Rows | None:
        return union((self.old, self.new))

    @property
    def open(self) -> Rows | None:
        """The old rows without those that are done with, which may stay until the table is written anew."""
        return self.old if self.compact else uncovered(self.old, self.before)

    def unmet(self, rows: Rows | None) -> Rows | None:
        """The rows of which none is known to have had a partner."""
        if rows is None or self.had is None:
            return rows
        return rows.alike(self.had, self.half.deciding, negated=True)


def _side(state: State, half: Half, flow: Flow, other: Flow) -> _Side:
    held, names = state[half.table.name], [column.name for column in half.columns]
    arrived = None if flow.rows is None or half.finite else flow.rows.only(names)
    old = held.rows
    if half.finite:
        old = None if flow.finite is None else flow.finite.only(names).where(half.able)
    return _Side(
        half=half,
        old=old,
        new=None if arrived is None else arrived.where(half.able),
        unable=arrived.where(f"NOT coalesce({half.able}, false)") if arrived is not None and half.lonely else None,
        had=state[half.met.name].rows if half.remembers else None,
        before=half.closing.translated(other.before),
        closed_now=half.closing.translated(other.new),
        compact=held.compact,
        rewrite=held.rewrite or other.new.everything,
    )


def _not_all(closed: Closed) -> Closed:
    """Without the end of an input: its partners' lonely rows may still come."""
    boxes = closed.boxes
    if boxes is not None:
        boxes = boxes.where(" OR ".join(f"{quote(name)} IS NOT NULL" for name in boxes.columns) or "false")
    return replace(closed, boxes=boxes, everything=False)
