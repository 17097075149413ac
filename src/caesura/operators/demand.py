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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from caesura.operators.closed import uncovered, uncovered_by_some
from caesura.operators.conditions import Conditions
from caesura.operators.join import Join
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, union
from caesura.operators.together import side_by_side


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
        staying = rows.matching(shared, purge.compared)
        # What is given up goes by its own time, which another row of its key need not have.
        return staying if self.sides[i].release is None else uncovered(staying, self.given_up(inputs, i))

    def _waiting(self, state: State, inputs: tuple[Flow, ...], i: int, active: Rows | None) -> Rows | None:
        """The rows of an input that stay suspended. Rows that are compared alike are wanted alike."""
        waiting = union((state[self.suspended[i].name].rows, self.able(i, inputs[i].rows)))
        waiting = self.purged(state, inputs, i, waiting)
        if waiting is None or active is None:
            return waiting
        compared = [name for name in self.conditions.columns[i] if name in self.compared]
        return waiting.alike(active, compared, negated=True)

    @cached_property
    def compared(self) -> frozenset[str]:
        """The columns that some condition looks at."""
        equal = (name for pair in self.equalities for name in pair)
        return frozenset((*equal, *(name for each in self.residual for name in each.columns)))

    def _kept_of(
        self, state: State, inputs: tuple[Flow, ...], part: Part, new: Rows | None, active: Changes
    ) -> Changes:
        """A partial result goes when one of its rows leaves its table, so that all that was made of rows in the
        tables is there."""
        assert part.made is not None
        held = state[part.made.name]
        rows_of = {i: self.sides[i].table.name for i in part.inputs if not self.sides[i].finite}
        if held.compact and new is None and not active.keys() & rows_of.values():
            return {}
        ended = any(inputs[j].new.everything for i in rows_of for j in self.sides[i].asked)
        if not (held.rewrite or ended):
            return {part.made.name: Change(new, rewrite=False)}
        rows = union((held.rows, new))
        for i, table in rows_of.items():
            purged = table in active and active[table].rewrite
            if rows is not None and (purged or not held.compact):  # else it has none of a row that left before
                rows = self._with(state, inputs, i, rows, state.after(table, active))
        return {part.made.name: Change(rows, rewrite=True)}

    def _with(
        self, state: State, inputs: tuple[Flow, ...], i: int, rows: Rows, active: Rows | None
    ) -> Rows | None:
        """Those of rows joined of several inputs whose row of input i is still active."""
        purge, staying = self._purge(state, inputs, i), union((rows,))
        for chain in self.sides[i].purge or ():
            if (said := purge.by_time(chain)) is None:
                return None if active is None else rows.matching(active, purge.compared)
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
    """Wants a row that can be joined with one of its rows, which are the rows of some tables, joined."""

    conditions: Conditions
    rows: Rows | None
    new: Rows | None
    """Those of its rows that the slice adds."""
    stood: bool
    """Whether it may have had rows before."""

    def wanted(self, rows: Rows | None) -> Rows | None:
        return self._matching(rows, self.rows)

    def newly(self, rows: Rows | None, *, negated: bool = False) -> Rows | None:
        """Those of these rows that can be joined with what the slice adds, or that cannot."""
        return self._matching(rows, self.new, negated=negated)

    def _matching(self, rows: Rows | None, partners: Rows | None, *, negated: bool = False) -> Rows | None:
        if rows is None or partners is None:
            return rows if negated else None
        condition = self.conditions.comparing(rows.columns, partners.columns)
        if condition is None:
            return None if negated else rows
        return rows.matching_on(partners, condition, negated=negated)

    def indifferent(self, columns: Collection[str]) -> bool:
        """Whether it wanted all rows with these columns before the slice: it compares nothing, and had rows."""
        compared = None if self.rows is None else self.conditions.comparing(columns, self.rows.columns)
        return compared is None and self.stood


Judges: TypeAlias = tuple[Judge, ...]
_RESUMED, _NEW = "resumed", "new"
"""Columns of what is shared: of active rows, of a judge's."""


def _marked(column: str, several: Mapping[str, Rows | None]) -> Rows | None:
    """Rows of several tables, with a column that says of which."""
    return union(None if rows is None else rows.extended({column: value}) for value, rows in several.items())


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
        parts = (self.join.tree, *self.join.tree.below)
        first = [part for part in parts if isinstance(part.children[0], Part)]
        judges = side_by_side(self.state.spark, lambda part: self._judges(part, 0), first)
        self._take(self.join.tree, (), dict(zip(first, judges, strict=True)))

    def possible(self, part: Part) -> Rows | None:
        """All that a tree without demand makes in the slice."""
        return self._new([self._source(i) for i in part.inputs])

    def _take(self, part: Part, judges: Judges, first: Mapping[Part, Judges]) -> None:
        """`first` are the judges of first children, who ask sources alone, and so wait for nobody."""
        inputs = [child for child in part.children if isinstance(child, int)]
        active = side_by_side(self.state.spark, lambda i: self._activated(i, judges), inputs)
        self.added.update(zip(inputs, active, strict=True))
        for number, child in enumerate(part.children):
            if isinstance(child, Part):
                near = self._judges(part, number) if number else first[part]
                self._take(child, (*near, *judges), first)
        self.added[part] = self._made(part, judges)

    def _judges(self, part: Part, number: int) -> Judges:
        """The other children of a join, as they judge one of them: those that nothing compares with each other
        judge each by itself. Sources are joined anew in every slice: that takes less than to look for those of
        their rows that matter, as long as they fit into memory."""
        before, after = part.children[:number], part.children[number + 1 :]
        tables = {inputs_of(child): self.added[child] for child in before}
        tables |= {(i,): self._source(i) for child in after for i in inputs_of(child)}
        judged = self.join.sides[min(inputs_of(part.children[number]))].table.name
        several = self.join.conditions.connected(tables)
        return tuple(
            self._judge(f"beside {judged} {len(part.inputs)} {place}", [tables[inputs] for inputs in group])
            for place, group in enumerate(several)
        )

    def _judge(self, name: str, tables: Sequence[Grown]) -> Judge:
        old, new = self._joined([each.old for each in tables], 0), self._new(tables)
        if len(tables) > 1:
            both = {"false": self._asked(old), "true": self._asked(new)}
            rows = self._shared(name, _marked(_NEW, both))
            new = None if new is None or rows is None else rows.where(_NEW).without(_NEW)
            return Judge(self.join.conditions, None if rows is None else rows.without(_NEW), new, old is not None)
        return Judge(self.join.conditions, tables[0].all, new, old is not None)

    def _asked(self, rows: Rows | None) -> Rows | None:
        """Only the columns that conditions compare."""
        return None if rows is None else rows.only(name for name in rows.columns if name in self.join.compared)

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
        awake = any(judge.new is not None for judge in judges)
        rows = _marked(_RESUMED, {"true": suspended if awake else None, "false": source.new})
        for judge in judges:
            rows = judge.wanted(rows)
        active = self._shared(f"active {table}", rows)
        if active is None:
            return Grown(self.state[table].rows, None)
        self.resumed[i] = active.where(_RESUMED)
        return Grown(self.state[table].rows, active.without(_RESUMED))

    def _made(self, part: Part, judges: Judges) -> Grown:
        children = [self.added[child] for child in part.children]
        columns = [name for i in sorted(part.inputs) for name in self.join.conditions.columns[i]]
        formed = self._new(children, meeting=len(children) > 2)
        new = None if formed is None else formed.only(columns)
        if part.made is None:
            return Grown(None, new)
        for judge in judges:
            new = judge.wanted(new)
        held, late = self.state[part.made.name].rows, self._late(children, judges)
        if late is not None:
            late = late.only(columns)
            late = late if held is None else late.less(held)
        return Grown(held, self._shared(f"new {part.made.name}", union((new, late))))

    def _late(self, children: list[Grown], judges: Judges) -> Rows | None:
        """Of combinations of rows that the children had before the slice, those that all judges want now, and one
        newly. All that was made of them and may still be part of a result is held."""
        found: list[Rows | None] = []
        for number, judge in enumerate(judges):
            near = [judge.newly(child.old) for child in children]
            combined = self._joined(near, 0)
            if combined is None or judge.indifferent(combined.columns):
                continue
            wanted = judge.newly(combined)
            for other in judges[:number]:
                if not other.indifferent(combined.columns):
                    wanted = other.newly(wanted, negated=True)
            for other in (*judges[:number], *judges[number + 1 :]):
                wanted = other.wanted(wanted)
            found.append(wanted)
        return union(found)

    def _new(self, tables: Sequence[Grown], *, meeting: bool = False) -> Rows | None:
        """What new rows of tables are joined to. `meeting`: those that meet nothing in one of the others are not
        joined with any."""
        whole, new = [each.all for each in tables], [each.new for each in tables]
        if meeting:
            new = [self._meeting(rows, whole[:k] + whole[k + 1 :]) for k, rows in enumerate(new)]
        columns = [name for rows in whole if rows is not None for name in rows.columns]
        return self.join.conditions.added([each.old for each in tables], new, columns)

    def _meeting(self, rows: Rows | None, others: Sequence[Rows | None]) -> Rows | None:
        for other in others:
            if rows is None or other is None:
                return None
            if (condition := self.join.conditions.comparing(rows.columns, other.columns)) is not None:
                rows = rows.matching_on(other, condition)
        return rows

    def _joined(self, tables: Sequence[Rows | None], start: int) -> Rows | None:
        return self.join.conditions.matches(dict(enumerate(tables)), start=start)

    def _shared(self, name: str, rows: Rows | None) -> Rows | None:
        """Rows that several read. They are put together of many parts, most of them small."""
        places = self.state.spark.sparkContext.defaultParallelism
        return None if rows is None else self.state.stage(name, rows.gathered(places))
