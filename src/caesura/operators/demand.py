"""Demand (THEORY section 11): an n-way join that also keeps partial results of a tree, where they are of use.

What is kept of an input is what the n-way join keeps of it, in two tables: *active* rows, which the tree joins,
and *suspended* ones, which find no partner further up. A row becomes active when one comes. A part of the tree, a
join below its root, *makes* a partial result when all its judges want it: the other children of each join on the
way to the root. So whatever is in a result has its rows active and its partial results made in the slice that
completes it, and the result comes in that very slice.

The children of a join are taken in turn. One judges another by what it has made if it came before, and else by its
sources, suspended rows included: that is exact, stores nothing, and no two wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from caesura.operators.closed import uncovered_by_some
from caesura.operators.conditions import Conditions
from caesura.operators.join import Join
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, union


@dataclass(frozen=True, eq=False)
class Part:
    """A join of the tree: its children, inputs or parts, in the order in which they are taken."""

    children: tuple[Child, ...]
    made: StateTable | None = None
    """Its rows that wait for the other children of the join above; None at the root."""

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        return tuple(i for child in self.children for i in inputs_of(child))

    @cached_property
    def below(self) -> tuple[Part, ...]:
        """All parts under this one, before those that read them."""
        parts = (child for child in self.children if isinstance(child, Part))
        return tuple(each for part in parts for each in (*part.below, part))


Child: TypeAlias = int | Part


def inputs_of(child: Child) -> tuple[int, ...]:
    return (child,) if isinstance(child, int) else child.inputs


@dataclass(frozen=True)
class Demanded(Join):
    tree: Part = field(default_factory=lambda: Part(()))
    suspended: Mapping[int, StateTable] = field(default_factory=dict)
    """Of the inputs that somebody judges."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        made = (part.made for part in self.tree.below if part.made is not None)
        return (*super().tables, *self.suspended.values(), *made)

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return DemandedSlice(self, state, inputs).added[self.tree].new

    def stored(self, state: State, i: int) -> Rows | None:
        return union(state[table.name].rows for table in self.tables_of(i))

    def tables_of(self, i: int) -> tuple[StateTable, ...]:
        return (*super().tables_of(i), *(table for j, table in self.suspended.items() if j == i))

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        slice, changes = DemandedSlice(self, state, inputs), dict[str, Change]()
        for i, side in enumerate(self.sides):
            if side.finite:
                continue
            closed, active, held = self.closed_now(inputs, i), slice.added[i].new, state[side.table.name]
            if not held.compact or active is not None or closed:
                anew = self.anew(state, inputs, i)
                rows = union((held.rows, active)) if anew else active
                changes[side.table.name] = Change(self.purged(state, inputs, i, rows), anew)
            if i in self.suspended and (closed or active is not None or inputs[i].rows is not None):
                changes[self.suspended[i].name] = Change(self._waiting(state, inputs, i, active), rewrite=True)
        for part in self.tree.below:
            changes |= self._kept_of(state, inputs, part, slice.added[part].new, changes)
        return changes

    def purged(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows | None) -> Rows | None:
        """Rows of an input are in two tables. If to ask for partners takes joins, it is asked for all at once."""
        purge = self._purge(state, inputs, i)
        if rows is None or all(purge.by_time(chain) is not None for chain in self.sides[i].purge or ()):
            return super().purged(state, inputs, i, rows)
        kept = super().purged(state, inputs, i, self.present(state, inputs, i))
        if kept is None:
            return None
        shared = state.share(f"kept {self.sides[i].table.name}", kept)
        return rows.matching(shared, purge.compared)

    def _waiting(self, state: State, inputs: tuple[Flow, ...], i: int, active: Rows | None) -> Rows | None:
        """The rows of an input that stay suspended. Rows that are compared alike are wanted alike."""
        waiting = union((state[self.suspended[i].name].rows, self.able(i, inputs[i].rows)))
        waiting = self.purged(state, inputs, i, waiting)
        if waiting is None or active is None:
            return waiting
        return waiting.alike(active, self._compared(i), negated=True)

    def _compared(self, i: int) -> list[str]:
        """The columns of an input that judges look at."""
        asked = {*self.sides[i].keys, *(name for each in self.residual for name in each.columns)}
        return [name for name in self.conditions.columns[i] if name in asked]

    def _kept_of(
        self, state: State, inputs: tuple[Flow, ...], part: Part, new: Rows | None, active: Changes
    ) -> Changes:
        """A partial result goes when one of its rows leaves its table, so that all that was made of rows in the
        tables is there."""
        assert part.made is not None
        held = state[part.made.name]
        purging = [i for i in part.inputs if not self.sides[i].finite and self.sides[i].table.name in active]
        if held.compact and new is None and not purging:
            return {}
        rows = union((held.rows, new)) if held.rewrite else new
        for i in purging if held.rewrite else ():
            rows = None if rows is None else self._with(state, inputs, i, rows, active[self.sides[i].table.name])
        return {part.made.name: Change(rows, held.rewrite)}

    def _with(self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows, active: Change) -> Rows | None:
        """Those of rows joined of several inputs whose row of input i is still active."""
        if not active.rewrite:
            return rows
        purge, staying = self._purge(state, inputs, i), union((rows,))
        for chain in self.sides[i].purge or ():
            if (said := purge.by_time(chain)) is None:
                return None if active.rows is None else rows.matching(active.rows, purge.compared)
            staying = uncovered_by_some(staying, said)
        return staying


@dataclass(frozen=True)
class Grown:
    """A table before the slice, and what the slice adds."""

    old: Rows | None
    new: Rows | None

    @property
    def all(self) -> Rows | None:
        return union((self.old, self.new))


@dataclass(frozen=True, eq=False)
class Judge:
    """Wants a row that can be joined with rows of these tables, one of each."""

    conditions: Conditions
    tables: tuple[Grown, ...]

    @cached_property
    def new(self) -> Rows | None:
        """The rows joined of all tables that the slice adds."""
        tables, terms = [each.old for each in self.tables], list[Rows | None]()
        for number, table in enumerate(self.tables):
            tables[number] = table.new
            terms.append(self.conditions.matches(dict(enumerate(tables)), start=number))
            tables[number] = table.all
        return union(None if term is None else term.only(self._columns) for term in terms)

    def wanted(self, rows: Rows | None) -> Rows | None:
        """Of several tables only what one of these rows can be joined with is joined: all that is stored would be
        too much for the sake of a slice."""
        if rows is None:
            return None
        tables = [each.all for each in self.tables]
        if len(tables) > 1:
            tables = [None if table is None else self.near(table, rows) for table in tables]
        return self._matching(rows, self.conditions.matches(dict(enumerate(tables)), start=0))

    def newly(self, rows: Rows | None, new: Rows | None, *, negated: bool = False) -> Rows | None:
        """Those of these rows that can be joined with what the slice adds, which is `new`, or that cannot."""
        return self._matching(rows, new, negated=negated)

    def _matching(self, rows: Rows | None, partners: Rows | None, *, negated: bool = False) -> Rows | None:
        if rows is None or partners is None:
            return rows if negated else None
        condition = self.conditions.comparing(rows.columns, partners.columns)
        if condition is None:
            return None if negated else rows
        return rows.matching_on(partners, condition, negated=negated)

    def near(self, table: Rows, rows: Rows) -> Rows:
        """What of the table can be joined with some of these rows."""
        condition = self.conditions.comparing(table.columns, rows.columns)
        return table if condition is None else table.matching_on(rows, condition)

    def indifferent(self, columns: Collection[str]) -> bool:
        """Whether it wanted all rows with these columns before the slice: it compares nothing, and had rows."""
        compared = self.conditions.comparing(columns, self._columns)
        return compared is None and all(each.old is not None for each in self.tables)

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        tables = (each.all for each in self.tables)
        return tuple(name for table in tables if table is not None for name in table.columns)


Judges: TypeAlias = tuple[Judge, ...]


@dataclass(frozen=True, eq=False)
class DemandedSlice:
    """One slice of a join with demand, as far as rows go. Nothing that it closes has a say in it."""

    join: Demanded
    state: State
    inputs: tuple[Flow, ...]
    added: dict[Child, Grown] = field(default_factory=dict)
    """Active rows of inputs, partial results of parts; at the root, results."""
    resumed: dict[int, Rows | None] = field(default_factory=dict)
    """The active rows that were suspended."""

    def __post_init__(self) -> None:
        self._take(self.join.tree, ())

    def _take(self, part: Part, judges: Judges) -> None:
        for number, child in enumerate(part.children):
            if isinstance(child, int):
                self.added[child] = self._activated(child, judges)
            else:
                self._take(child, (self._judge(part, number), *judges))
        self.added[part] = self._made(part, judges)

    def possible(self, part: Part) -> Rows | None:
        """All that a tree without demand makes in the slice."""
        return Judge(self.join.conditions, tuple(map(self._source, part.inputs))).new

    def _judge(self, part: Part, number: int) -> Judge:
        """The other children of a join, as they judge one of them."""
        before, after = part.children[:number], part.children[number + 1 :]
        sources = (self._source(i) for child in after for i in inputs_of(child))
        return Judge(self.join.conditions, (*(self.added[child] for child in before), *sources))

    def _source(self, i: int) -> Grown:
        """All rows of an input, suspended or not."""
        if self.join.sides[i].finite:
            return Grown(self.join.able(i, self.inputs[i].finite), None)
        return Grown(self.join.stored(self.state, i), self.join.able(i, self.inputs[i].rows))

    def _activated(self, i: int, judges: Judges) -> Grown:
        source = self._source(i)
        if i not in self.join.suspended:
            return source
        table, suspended = self.join.sides[i].table.name, self.state[self.join.suspended[i].name].rows
        arrived = self._wanted(f"arrived {table}", source.new, judges)
        back = self._awake(f"back {table}", judges, lambda judge, new: suspended)
        self.resumed[i] = self._shared(f"resumed {table}", back)
        active = union((self._shared(f"wanted {table}", arrived), self.resumed[i]))
        return Grown(self.state[table].rows, active)

    def _made(self, part: Part, judges: Judges) -> Grown:
        """Combinations with new rows of a child, of those before it with and of those after it without theirs."""
        children = [self.added[child] for child in part.children]
        tables, terms = [each.old for each in children], list[Rows | None]()
        for k in sorted(range(len(children)), key=lambda k: tables[k] is None):  # as in the n-way join
            tables[k] = children[k].new
            terms.append(
                self.join.conditions.matches({**dict(enumerate(tables)), k: self._meeting(tables, k)}, start=k)
            )
            tables[k] = children[k].all
        columns = [name for i in sorted(part.inputs) for name in self.join.conditions.columns[i]]
        new = union(None if term is None else term.only(columns) for term in terms)
        if part.made is None:
            return Grown(None, new)
        name, held = part.made.name, self.state[part.made.name].rows
        late = self._awake(f"late {name}", judges, lambda judge, added: self._before(part, judge, added))
        if late is not None and held is not None:
            late = late.only(columns).less(held)  # all that may still be part of a result and was made is held
        return Grown(held, self._shared(f"new {name}", union((self._wanted(f"formed {name}", new, judges), late))))

    def _meeting(self, tables: list[Rows | None], k: int) -> Rows | None:
        """Of several tables to be joined with the rows of one, those that meet none in one of them are not joined
        with the others."""
        rows, others = tables[k], [each for number, each in enumerate(tables) if number != k and each is not None]
        if len(others) > 1:
            for other in others:
                condition = None if rows is None else self.join.conditions.comparing(rows.columns, other.columns)
                rows = rows if rows is None or condition is None else rows.matching_on(other, condition)
        return rows

    def _before(self, part: Part, judge: Judge, new: Rows) -> Rows | None:
        """Combinations of what the children had before the slice, as far as a judge may want them newly."""
        tables = {k: self.added[child].old for k, child in enumerate(part.children)}
        near = {k: None if table is None else judge.near(table, new) for k, table in tables.items()}
        return self.join.conditions.matches(near, start=0)

    def _wanted(self, name: str, rows: Rows | None, judges: Judges) -> Rows | None:
        """The rows that all judges want."""
        for number, judge in enumerate(judges):
            if len(judge.tables) > 1:  # which look at the rows several times
                rows = self._shared(f"{name} {number}", rows)
            rows = judge.wanted(rows)
        return rows

    def _awake(self, name: str, judges: Judges, rows: Callable[[Judge, Rows], Rows | None]) -> Rows | None:
        """Of rows that not all judges wanted before the slice, those that all want now: one wants them newly. They
        are looked for by what is new to it."""
        found: list[Rows | None] = []
        news = [self._shared(f"{name} {number}", judge.new) for number, judge in enumerate(judges)]
        for number, (judge, new) in enumerate(zip(judges, news, strict=True)):
            candidates = None if new is None else rows(judge, new)
            if candidates is None or judge.indifferent(candidates.columns):
                continue
            wanted = judge.newly(candidates, new)
            for other, seen in zip(judges[:number], news, strict=False):
                if not (wanted is None or other.indifferent(wanted.columns)):
                    wanted = other.newly(wanted, seen, negated=True)
            others = (*judges[:number], *judges[number + 1 :])
            found.append(self._wanted(f"{name} {number} of", wanted, others))
        return union(found)

    def _shared(self, name: str, rows: Rows | None) -> Rows | None:
        return None if rows is None else self.state.share(name, rows)
