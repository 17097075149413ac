"""An inner join of n inputs that keeps partial results of a tree of joins: those in demand (THEORY section 11).

A *part* is a node of the tree that joins others; the root is the join itself. A part's rows are worth nothing
until its siblings have partners for them, and its parent's siblings have, and so on up: these are its *judges*.
Nothing is made that one of them does not want, and a row of an input that one does not want is suspended: it meets
nobody until it is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from caesura.model.join import Hop, Join, hops
from caesura.model.operator import Row, Rows, Slice, State
from caesura.plan import Tree
from caesura.punctuation import Punctuation
from caesura.safety.tree import leaves

LEVEL = "suspended at level"
"""An attribute of suspended rows: which judge did not want them, 0 for the nearest."""


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
    """What a step did to the tables. A row that is resumed may be suspended again, by a judge farther up."""

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

    keep: every row, active or suspended, as in `Join`. What a part made, as a row of its first input would be
    that knows the attributes of the whole part and asks only the other inputs. What may go so is not made again,
    though its own rows stay and judges may want it anew: they ask one by one, each on account of other rows.

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
            Slice(held.rows + tuple(map(unlevelled, waiting.rows)), held.punctuations)
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
                late = self.late(node, below, judges, before, seen[node].old) if judges else ()
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
        """The rows of an input that become active, and those that are suspended. A judge that a row has passed is
        not asked again."""
        passing: Rows = arrived
        staying: Rows = ()
        for level, judge in enumerate(judges):
            waiting = tuple(unlevelled(row) for row in suspended if row[LEVEL] == level)
            unwanted = tuple(row for row in passing if not self.wants(judge, row))
            asleep = tuple(row for row in waiting if not self.newly_wants(judge, row))
            passing = minus(passing, unwanted) + minus(waiting, asleep)
            staying += self.suspend(level, unwanted) + levelled(level, asleep)
        return passing, staying

    def suspend(self, level: int, rows: Rows) -> Rows:
        return levelled(level, rows)

    def combined(self, below: Sequence[Table]) -> Rows:
        """Every combination with a new row, once."""
        return tuple(
            row
            for k, table in enumerate(below)
            for row in self.joined(
                [*(each.all for each in below[:k]), table.new, *(each.old for each in below[k + 1 :])]
            )
        )

    def late(self, part: Tree, below: Sequence[Table], judges: Sequence[Judge], before: State, made: Rows) -> Rows:
        """Of rows that met when somebody did not want them: what all want now, and did not before this slice."""
        met = self.joined(table.old for table in below)
        due = (r for r in met if any(self.newly_wants(each, r) for each in judges) and self.demanded(r, judges))
        return self.unmade(tuple(row for row in due if not self.gone(part, row, before)), made)

    def unmade(self, rows: Rows, made: Rows) -> Rows:
        return minus(rows, made)

    def gone(self, part: Tree, row: Row, before: State) -> bool:
        """A row that this part has made may have been purged, with its own rows still there."""
        return self.purged(row, self.chains[part], before)

    @cached_property
    def chains(self) -> dict[Tree, tuple[tuple[Hop, ...], ...]]:
        """In which orders the rows that a part made ask the inputs outside: those of its first input."""
        return {part: self._chains(frozenset(leaves(part))) for part in self.parts}

    def _chains(self, inside: frozenset[int]) -> tuple[tuple[Hop, ...], ...]:
        first = min(inside)
        known = tuple(name for i in sorted(inside) for name in self.columns[i])
        columns = [known if i == first else () if i in inside else names for i, names in enumerate(self.columns)]
        orders = [[hop.input for hop in order if hop.input not in inside] for order in self.orders[first]]
        asked = [orders if i == first else [] for i, _ in enumerate(columns)]
        return hops(columns, self.equalities, asked, self.bands)[first]

    def purged(self, row: Row, orders: Iterable[tuple[Hop, ...]], present: State) -> bool:
        return any(self.purgeable(row, order, present) for order in orders)

    def keep(self, state: State) -> State:
        """All are judged against the rows before the purge."""
        present = self.present(state)
        orders = (*self.orders, *self.orders, *(self.chains[part] for part in self.parts))
        return tuple(
            Slice(tuple(row for row in held.rows if not self.purged(row, several, present)), held.punctuations)
            for held, several in zip(state, orders, strict=True)
        )

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
    """Those of more inputs first, then by the first input."""
    below = () if isinstance(tree, int) else tree
    return tuple(sorted(below, key=lambda child: (-len(leaves(child)), min(leaves(child)))))


def levelled(level: int, rows: Rows) -> Rows:
    return tuple(row | Row.of({LEVEL: level}) for row in rows)


def unlevelled(row: Row) -> Row:
    return Row(tuple(cell for cell in row.cells if cell[0] != LEVEL))


def minus(rows: Rows, others: Rows) -> Rows:
    """The difference of bags."""
    return tuple((Counter(rows) - Counter(others)).elements())
