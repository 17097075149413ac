"""An inner join of n inputs that keeps partial results of a tree of joins: those in demand (THEORY section 11).

A *part* is a node of the tree that joins others; the root is the join itself. A part's rows are worth nothing
until its siblings have partners for them, and its parent's siblings have, and so on up: these are its *judges*.
Nothing is made that one of them does not want, and a row of an input that one does not want is suspended: it meets
nobody until it is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from caesura.model.join import Join
from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import Tree
from caesura.punctuation import Punctuation
from caesura.safety.tree import largest_first, leaves


@dataclass(frozen=True)
class Table:
    """Rows from before the slice, and those that come in it."""

    old: Rows
    new: Rows = ()

    @property
    def all(self) -> Rows:
        return self.old + self.new


Judge: TypeAlias = tuple[Table, ...]
"""Who looks at the join of these tables."""


@dataclass(frozen=True)
class Moves:
    """What a step did to the tables."""

    made: Mapping[Tree, Rows]
    suspended: Rows
    resumed: Rows


@dataclass(frozen=True)
class Demanded(Join):
    """pass, prop, and keep of all rows of an input together: as in `Join`, in the same slices.

    Invariant: in the slice that completes a result all its rows are active, and its partial results made. Every
    judge wants them then: it finds the rest of the result among the rows that are present and among what the parts
    before it, which are through with the slice, have made. If it did not want them before, something of that is
    new. A row is suspended only while a judge does not want it.

    A part before another is represented by what it made, and a part after by its inputs, suspended rows included:
    were each to wait until the other makes something, neither would.

    keep: every row, active or suspended, as in `Join`. What a part made stays as long as the rows that it was made
    of, even if it could go before them: judges ask one by one, each on account of other rows, and might want it
    anew; made again, it would give an old result again.

    The state has the active rows and the punctuations of each input, then the suspended rows of each input, then
    what each part but the root has made, in the order of `nodes`.
    """

    tree: Tree = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sorted(leaves(self.tree)) != list(range(len(self.columns))):
            raise ValueError("every input must be in the tree, once")
        if any(self.synopses):
            raise ValueError("rows that are summed up cannot be suspended")

    @cached_property
    def parts(self) -> tuple[Tree, ...]:
        """All but the root, in the order in which they are made."""
        return tuple(node for node in nodes(self.tree) if not isinstance(node, int) and node != self.tree)

    @cached_property
    def parents(self) -> dict[Tree, Tree]:
        return {child: part for part in (*self.parts, self.tree) for child in children(part)}

    def initial(self) -> State:
        return tuple(Slice() for _ in (*self.columns, *self.columns, *self.parts))

    def split(self, state: State) -> tuple[State, State, State]:
        n = len(self.columns)
        return state[:n], state[n : 2 * n], state[2 * n :]

    def present(self, state: State) -> State:
        """All rows of each input, active or suspended: what `Join` would hold."""
        active, suspended, _ = self.split(state)
        return tuple(
            Slice(held.rows + waiting.rows, held.punctuations)
            for held, waiting in zip(active, suspended, strict=True)
        )

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        """Depth first. `seen` is what judges look at, `met` what parts join."""
        active, suspended, made = self.split(state)
        before = self.present(state)
        arrived = [self.joinable(slice.rows) for slice in new]
        seen: dict[Tree, Table] = {i: Table(held.rows, arrived[i]) for i, held in enumerate(before)}
        seen |= {part: Table(held.rows) for part, held in zip(self.parts, made, strict=True)}
        seen[self.tree] = Table(())
        met: dict[Tree, Table] = {}
        waiting = [held.rows for held in suspended]
        for node in nodes(self.tree):
            judges = [tuple(seen[each] for each in judge) for judge in self.judges(node)]
            if isinstance(node, int):
                activated, waiting[node] = self.judged(arrived[node], waiting[node], judges)
                met[node] = Table(active[node].rows, activated)
            else:
                below = [met[child] for child in children(node)]
                wanted = tuple(row for row in self.combined(below) if self.demanded(row, judges))
                late = self.late(below, judges, seen[node].old) if judges else ()
                met[node] = seen[node] = Table(seen[node].old, wanted + late)
        results = tuple(r for r in met[self.tree].new if self.residual is None or self.residual(r) is True)
        grown = (
            *(Slice(met[i].all, held.punctuations | new[i].punctuations) for i, held in enumerate(active)),
            *map(Slice, waiting),
            *(Slice(met[part].all) for part in self.parts),
        )
        return results, grown

    def judges(self, node: Tree) -> tuple[tuple[Tree, ...], ...]:
        """The nearest first. An input has those of the part that joins it."""
        part = self.parents[node] if isinstance(node, int) else node
        if part == self.tree:
            return ()
        return (self.judge(part), *self.judges(self.parents[part]))

    def judge(self, part: Tree) -> tuple[Tree, ...]:
        """The siblings: those before by what they made, those after by their inputs."""
        siblings = children(self.parents[part])
        place = siblings.index(part)
        return siblings[:place] + tuple(leaf for after in siblings[place + 1 :] for leaf in leaves(after))

    def wants(self, judge: Judge, row: Row) -> bool:
        return bool(self.joined([(row,), *(table.all for table in judge)]))

    def newly_wants(self, judge: Judge, row: Row) -> bool:
        """Some of what the row would meet has come in this slice."""
        return any(
            self.joined([table.new, (row,), *(other.all for other in (*judge[:k], *judge[k + 1 :]))])
            for k, table in enumerate(judge)
        )

    def demanded(self, row: Row, judges: Sequence[Judge]) -> bool:
        return all(self.wants(judge, row) for judge in judges)

    def judged(self, arrived: Rows, suspended: Rows, judges: Sequence[Judge]) -> tuple[Rows, Rows]:
        """The rows of an input that become active, and those that are suspended."""
        wanted = tuple(row for row in arrived if self.demanded(row, judges))
        back = tuple(row for row in suspended if self.awake(row, judges))
        return wanted + back, self.suspend(minus(arrived, wanted)) + minus(suspended, back)

    def suspend(self, rows: Rows) -> Rows:
        return rows

    def awake(self, row: Row, judges: Sequence[Judge]) -> bool:
        """Whether all want what not all did before this slice."""
        return any(self.newly_wants(judge, row) for judge in judges) and self.demanded(row, judges)

    def combined(self, below: Sequence[Table]) -> Rows:
        """Every combination with a new row, once."""
        return tuple(
            row
            for k, table in enumerate(below)
            for row in self.joined(
                [*(each.all for each in below[:k]), table.new, *(each.old for each in below[k + 1 :])]
            )
        )

    def late(self, below: Sequence[Table], judges: Sequence[Judge], made: Rows) -> Rows:
        """Of rows that met when not all wanted what they make: what all want now."""
        met = self.joined(table.old for table in below)
        return self.unmade(tuple(row for row in met if self.awake(row, judges)), made)

    def unmade(self, rows: Rows, made: Rows) -> Rows:
        return minus(rows, made)

    def keep(self, state: State) -> State:
        """All inputs are judged against the rows before the purge."""
        present, (active, suspended, made) = self.present(state), self.split(state)
        kept = tuple(
            Slice(
                tuple(r for r in held.rows if not any(self.purgeable(r, order, present) for order in orders)),
                held.punctuations,
            )
            for held, orders in zip(active + suspended, (*self.orders, *self.orders), strict=True)
        )
        return kept + tuple(
            Slice(tuple(row for row in held.rows if self.whole(part, row, kept)))
            for part, held in zip(self.parts, made, strict=True)
        )

    def whole(self, part: Tree, row: Row, kept: State) -> bool:
        """Whether all the rows are there that it was made of."""
        own = ((i, Row.of({name: row[name] for name in self.columns[i]})) for i in leaves(part))
        return all(each in kept[i].rows for i, each in own)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return super().prop(self.present(kept))

    def moves(self, before: State, after: State) -> Moves:
        """What the step between these states did."""
        _, waited, had = self.split(before)
        _, waiting, has = self.split(after)
        return Moves(
            {part: minus(b.rows, a.rows) for part, a, b in zip(self.parts, had, has, strict=True)},
            tuple(row for a, b in zip(waited, waiting, strict=True) for row in minus(b.rows, a.rows)),
            tuple(row for a, b in zip(waited, waiting, strict=True) for row in minus(a.rows, b.rows)),
        )


def nodes(tree: Tree) -> Iterator[Tree]:
    """Depth first: what is below a node comes before it."""
    for child in children(tree):
        yield from nodes(child)
    yield tree


def children(tree: Tree) -> tuple[Tree, ...]:
    return () if isinstance(tree, int) else largest_first(tree)


def minus(rows: Rows, others: Rows) -> Rows:
    """The difference of bags."""
    return tuple((Counter(rows) - Counter(others)).elements())
