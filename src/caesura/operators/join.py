"""The inner join of n inputs; the binary join is n = 2.

emit: all matches; keep: a row stays while a future partner could still complete it; pass on: an input's p, once
no kept row of that input matches it. No intermediate result is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, TypeAlias

from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.operators.store import Store, passed_on


@dataclass(frozen=True)
class Condition:
    """SQL over these columns."""

    sql: str
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Hop:
    """One step of a chained purge: the input asked next, and what each of its attributes must equal."""

    input: int
    pins: Mapping[str, str]
    """Attribute of the input → the equal column of the rows joined so far."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Attribute of the input → the value that a predicate fixes for it, as SQL."""
    most: Mapping[str, Condition] = field(default_factory=dict)
    """Attribute of the input → what it is at most, if it is not fixed: a window is such a bound."""

    @property
    def asks(self) -> frozenset[str]:
        """The columns of the rows joined so far that matter."""
        return frozenset(self.pins.values()).union(*(most.columns for most in self.most.values()))

    def translated(self, closed: Closed) -> Closed:
        """What the input has closed, in the columns of the rows that ask."""
        said = closed.where(self.constants)
        if not self.most:
            return said.renamed(self.pins)
        ends = {attribute: most.sql for attribute, most in self.most.items()}
        return said.renamed({**self.pins, **dict(zip(ends, ends, strict=True))}).up_to(ends)


Chain: TypeAlias = tuple[Hop, ...]
"""An order in which to ask the other streams."""


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

    @property
    def asked(self) -> frozenset[int]:
        return frozenset(hop.input for chain in self.purge or () for hop in chain)


@dataclass(frozen=True)
class Join:
    prompt: ClassVar[bool] = True

    name: str
    sides: tuple[Side, ...]
    equalities: tuple[tuple[str, str], ...]
    residual: tuple[Condition, ...] = ()
    """All else that must hold between columns of different inputs."""
    passed: Store | None = None
    """The history of what was passed on, if a reader needs it."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        rows = tuple(side.table for side in self.sides if not side.finite)
        stores = (*(side.pending for side in self.sides), self.passed)
        return rows + tuple(table for store in stores if store is not None for table in store.tables)

    @cached_property
    def _owner(self) -> Mapping[str, int]:
        return {column.name: i for i, side in enumerate(self.sides) for column in side.table.columns}

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        """Σₖ state′ ⋈ … ⋈ newₖ ⋈ … ⋈ state: inputs before k with the slice's rows, inputs after k without.

        Inputs of which nothing is held come last. Every result has a new row of them, so that the terms of all
        other inputs, which lack it, are empty.
        """
        old = [self._held(state, i, flow) for i, flow in enumerate(inputs)]
        arrived = [None if side.finite else flow.rows for side, flow in zip(self.sides, inputs, strict=True)]
        parts, terms = [*old], []
        for k in sorted(range(len(inputs)), key=lambda i: old[i] is None):
            parts[k] = arrived[k]
            if (term := self._matches(dict(enumerate(parts)), start=k)) is not None:
                terms.append(term.only(self._owner))
            parts[k] = union((old[k], arrived[k]))
        return union(terms)

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        changes: dict[str, Change] = {}
        for i, side in enumerate(self.sides):
            if side.finite:
                continue
            compact = state[side.table.name].compact
            if compact and inputs[i].rows is None and not self._closed_now(inputs, i):
                continue
            anew = self.anew(state, inputs, i)
            rows = self._kept(state, inputs, i) if anew else self._purged(state, inputs, i, inputs[i].rows)
            changes[side.table.name] = Change(rows, anew)
        return changes

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
        passed, history = passed_on(new, self.passed, state)
        return passed, {**changes, **history}

    def _closed_now(self, inputs: tuple[Flow, ...], i: int) -> bool:
        """Whether this slice brings a punctuation that may purge rows of input i."""
        side = self.sides[i]
        return any(inputs[j].new for j in (side.asked if side.release is None else {*side.asked, i}))

    def _held(self, state: State, i: int, flow: Flow) -> Rows | None:
        side = self.sides[i]
        return flow.finite if side.finite else state[side.table.name].rows

    def _matches(self, parts: Mapping[int, Rows | None], start: int) -> Rows | None:
        """The join of a table for each of some inputs, starting at `start` and following the join graph."""
        if any(part is None for part in parts.values()):
            return None
        joined, done = parts[start], {start}
        while left := parts.keys() - done:
            i = min(left.intersection(self._around(done)) or left)
            joined, done = self._joined(joined, parts[i]), done | {i}
        return joined

    def _around(self, done: set[int]) -> list[int]:
        """The inputs that an equality connects with those already joined."""
        pairs = [(self._owner[left], self._owner[right]) for left, right in self.equalities]
        return sorted({j if i in done else i for i, j in pairs if (i in done) != (j in done)})

    def _joined(self, joined: Rows | None, part: Rows | None) -> Rows:
        """One more table, by all conditions whose columns are there now."""
        assert joined is not None
        assert part is not None
        before, now = set(joined.columns), {*joined.columns, *part.columns}
        ready = [c.sql for c in self._conditions if c.columns <= now and not c.columns <= before]
        return joined.join(part, " AND ".join(ready) or None)

    @cached_property
    def _conditions(self) -> tuple[Condition, ...]:
        equal = (Condition(f"{quote(a)} = {quote(b)}", frozenset((a, b))) for a, b in self.equalities)
        return (*equal, *self.residual)

    def _kept(self, state: State, inputs: tuple[Flow, ...], i: int) -> Rows | None:
        """All rows of input i that stay: those held before, and the slice's."""
        side = self.sides[i]
        rows = self._purged(state, inputs, i, union((state[side.table.name].rows, inputs[i].rows)))
        if rows is None or side.pending is None:
            return rows
        return state.share(f"kept {side.table.name}", rows)

    def _purged(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """Those of these rows of input i that stay."""
        side, rows = self.sides[i], self.awaited(state, inputs, i, rows)
        return rows if side.release is None else uncovered(rows, side.release.translated(inputs[i].closed))

    def awaited(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """keep(S) = rows of S with, for some k, a row of S ⋈ X₁ ⋈ … ⋈ Xₖ₋₁ that no punctuation of Xₖ covers, in
        every order X₁, X₂, …"""
        side = self.sides[i]
        rows = None if rows is None else rows.where(side.able)
        for chain in side.purge or ():
            rows = None if rows is None else self._awaited(state, inputs, i, rows, chain)
        return rows

    def _awaited(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows, chain: Chain) -> Rows | None:
        match chain:
            case ():
                return None  # every partner is finite and known: no future result needs a stored row
            case (hop,) if not any(other.finite for other in self.sides):
                return uncovered(rows, hop.translated(inputs[hop.input].closed))
            case hops:
                return self._chained(state, inputs, i, rows, hops)

    def expired(self, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """The rows of input i that a window alone lets go, if its only partner is a stream."""
        match self.sides[i].purge:
            case ((hop,),) if hop.most and rows is not None:
                passed = replace(inputs[hop.input].closed, everything=False).confined(hop.most)
                return covered(rows, replace(hop, pins={}, constants={}).translated(passed))
            case _:
                return None

    def alone(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """The rows of input i whose only partner, a stream, has none for them and will have none."""
        match self.sides[i].purge:
            case ((hop,),) if rows is not None and len(self.sides) == 2:
                closed = covered(rows, hop.translated(inputs[hop.input].closed))
                partners = union((state[self.sides[hop.input].table.name].rows, inputs[hop.input].rows))
                if closed is None or partners is None:
                    return closed
                condition = " AND ".join(condition.sql for condition in self._conditions)
                return closed.matching_on(partners, condition or "true", negated=True)
            case _:
                return None

    def _chained(
        self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows, hops: tuple[Hop, ...]
    ) -> Rows | None:
        """Judged against the states before the purge."""
        parts = {j: inputs[j].finite for j, side in enumerate(self.sides) if side.finite}
        at_once: Rows | None = None
        left: Rows | None = rows
        later: list[Rows | None] = []
        for hop in hops:
            closed = hop.translated(inputs[hop.input].closed)
            if not parts:  # the first hop looks at the rows alone; the later ones judge only what it covers
                at_once, left = uncovered(rows, closed), covered(rows, closed)
            else:
                later.append(self._open_with(parts, i, left, hop.asks, closed))
            parts[hop.input] = union((state[self.sides[hop.input].table.name].rows, inputs[hop.input].rows))
        return union((at_once, self._in_any(later, i, left)))

    def _in_any(self, several: Sequence[Rows | None], i: int, rows: Rows | None) -> Rows | None:
        """Those of the rows of input i that are also in one of several tables of some of them."""
        present = [each for each in several if each is not None]
        if len(present) <= 1 or rows is None:
            return union(present)
        keys = self._compared(i)
        found = union(each.only(keys) for each in present)
        return None if found is None else rows.alike(found.distinct(), keys)

    def _open_with(
        self, parts: Mapping[int, Rows | None], i: int, rows: Rows | None, asks: frozenset[str], closed: Closed
    ) -> Rows | None:
        """The rows of input i with partners in all these parts, one of each, such that nothing closed covers what
        is asked of them together.

        That is asked first of the one table that has the columns. It leaves little, for which to look in the
        others is little work, however large they are.
        """
        askers = self._owners(asks) or {i}
        if rows is None or any(part is None for part in parts.values()):
            return None
        if len(askers) > 1:
            keys = self._compared(i)
            found = uncovered(self._matches({**parts, i: rows.only(keys)}, start=i), closed)
            return None if found is None else rows.alike(found.only(keys).distinct(), keys)
        (asker,) = askers
        parts = {**parts, i: rows}
        parts[asker] = uncovered(parts[asker], closed)
        staying, few = parts.pop(i), asker == i
        for group in sorted(self._groups(parts.keys()), key=lambda group: asker not in group):
            partners = self._matches({j: parts[j] for j in group}, start=asker if asker in group else min(group))
            if staying is None or partners is None:
                return None
            condition = self._between(i, group)
            near = partners.matching_on(staying, condition) if few else partners
            staying, few = staying.matching_on(near, condition), True
        return staying

    def _owners(self, columns: Iterable[str]) -> set[int]:
        """The inputs that have these columns."""
        return {self._owner[column] for column in columns}

    def _groups(self, inputs: Collection[int]) -> list[frozenset[int]]:
        """These inputs, those together that a condition connects."""
        groups = [frozenset((each,)) for each in inputs]
        for condition in self._conditions:
            owners = self._owners(condition.columns).intersection(inputs)
            joined = [group for group in groups if group & owners]
            groups = [group for group in groups if not group & owners]
            groups += [frozenset[int]().union(*joined)] if joined else []
        return groups

    def _between(self, i: int, group: frozenset[int]) -> str:
        """All that is asked of a row of input i and rows of these together."""
        asked = (
            condition.sql
            for condition in self._conditions
            if i in (owners := self._owners(condition.columns)) and owners <= {i, *group}
        )
        return " AND ".join(asked) or "true"

    def _compared(self, i: int) -> list[str]:
        """The columns of input i that tell which of its rows may stay. Another condition may ask for more of them,
        but rows that are alike in these may all stay."""
        asked = {column for chain in self.sides[i].purge or () for hop in chain for column in hop.asks}
        return sorted({*self.sides[i].keys, *(column for column in asked if self._owner[column] == i)})
