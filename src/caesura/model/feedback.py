"""Just-in-time processing of a tree of binary joins, row by row: a producer makes what its consumer demands.

The names are the paper's (figure 6, section IV-B). Where its text would lose or repeat rows we do what is right:

- Of two joins that feed a third only one waits for the other. In (A ⋈ B) ⋈ (C ⋈ D) with conditions between all
  sources, a may wait for a row cd and c for a row ab, and each keep the other's from being made, although both
  have been in partial results. If one side waits per join, it waits for something that is further on in the order
  of the tree, and there is no cycle.
- A row that is resumed is as good as a new one to those who wait for it: it too probes the MNS buffer.
- An MNS is the values that its consumer compares, and lives as long as it holds anything back. Purged with the row
  in which it was found, it would leave behind the later rows with these values.
- A suspension time alone tells what a row has met only while no row of the other side is suspended: see `Spell`.
- No mark is sent upstream: all it saves is a comparison at the join that has both halves of the MNS.

The window is |t.ts - t'.ts| <= w: a row is alive through ts + w. As every result has a row of the slice in which
it is made, that all its parts are alive then is the whole condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal, TypeAlias, TypeVar

from caesura.model.lattice import identify_mns
from caesura.model.operator import Row
from caesura.plan import Equality, Tree

Command: TypeAlias = Literal["suspend", "resume"]
T = TypeVar("T")


@dataclass(frozen=True)
class Query:
    """`columns` has the attributes of each source; no two share one."""

    tree: Tree
    columns: tuple[tuple[str, ...], ...]
    equalities: tuple[Equality, ...]
    window: int


@dataclass(frozen=True)
class Part:
    """A row of a source or a partial result. Equal are those of the same arrivals, not those with equal values."""

    arrivals: frozenset[int]
    row: Row = field(compare=False)
    first: int = field(compare=False)  # the slices in which the oldest and the newest of them came
    last: int = field(compare=False)

    def __or__(self, other: Part) -> Part:
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Part(self.arrivals | other.arrivals, self.row | other.row, first, last)


@dataclass(frozen=True)
class Mns:
    """A minimal non-demanded sub-tuple, and every sub-tuple with the same values. Without values it is Ø."""

    consumer: Tree
    values: Row

    def covers(self, part: Part) -> bool:
        values = dict(part.row.cells)
        return all(values[name] == value for name, value in self.values.cells)

    def within(self, columns: frozenset[str]) -> Mns:
        return replace(self, values=_only(self.values, columns))


@dataclass(frozen=True)
class Spell:
    """How long a row was in an operator state, in the join's count of insertions, and with which marks.

    `until` is the suspension time: the last insertion into the opposite state that the row has met.
    """

    since: int
    until: float
    marks: frozenset[Mns]

    def meets(self, other: Spell) -> bool:
        return self.since <= other.until and other.since <= self.until and not self.marks & other.marks


@dataclass(eq=False)
class Held:
    """A row in a state or a blacklist. Two rows have met iff a spell of one and a spell of the other do."""

    part: Part
    spells: list[Spell] = field(default_factory=list)

    @property
    def present(self) -> bool:
        return bool(self.spells) and self.latest.until == inf

    @property
    def latest(self) -> Spell:
        return self.spells[-1]

    def met(self, other: Held) -> bool:
        return any(one.meets(another) for one in self.spells for another in other.spells)

    def close(self, time: int) -> None:
        self.spells[-1] = replace(self.latest, until=time)

    def mark(self, mns: Mns, time: int) -> None:
        """The marked spell has the same beginning: what it meets the spell before may meet as well."""
        marked = replace(self.latest, marks=self.latest.marks | {mns})
        self.close(time)
        self.spells.append(marked)


@dataclass(eq=False)
class Input:
    """`suspended` has the MNSs of the blacklist, `buffer` those that this join has found in the input."""

    tree: Tree
    columns: frozenset[str]
    producer: JitJoin | None
    state: list[Held] = field(default_factory=list)
    blacklist: list[Held] = field(default_factory=list)
    suspended: list[Mns] = field(default_factory=list)
    buffer: list[Mns] = field(default_factory=list)


@dataclass(eq=False)
class Probe:
    """A row on its way through the opposite state, in the order of insertion, has met the rows up to `at`."""

    held: Held
    at: int = 0


class JitJoin:
    """Two rows of its states have met, unless both carry a mark. An MNS in a buffer has no match in the opposite
    state. `made` is all that it has produced, and nothing is in it twice."""

    def __init__(self, query: Query, tree: Tree) -> None:
        assert isinstance(tree, tuple)
        left, right = (self._input(query, each) for each in tree)
        self.tree, self.inputs, self.window = tree, (left, right), query.window
        both = [pair for each in query.equalities for pair in ((each.left, each.right), (each.right, each.left))]
        self.pairs = [pair for pair in both if pair[0] in left.columns and pair[1] in right.columns]
        self.components = [
            [names for source in query.columns if (names := {pair[side] for pair in self.pairs} & set(source))]
            for side in (0, 1)
        ]
        self.marking: list[Mns] = []  # of type II
        self.clock = 0
        self.now = 0
        self.probe: Probe | None = None
        self.made: list[Part] = []
        self.counts: Counter[str] = Counter()

    def _input(self, query: Query, tree: Tree) -> Input:
        columns = frozenset(name for source in sources(tree) for name in query.columns[source])
        return Input(tree, columns, None if isinstance(tree, int) else type(self)(query, tree))

    @property
    def waiting(self) -> tuple[int, ...]:
        """The side that is suspended for want of partners, if there is one that can be."""
        return tuple(side for side in (0, 1) if self.inputs[side].producer)[:1]

    def receive(self, source: int, part: Part) -> Iterator[Part]:
        """One by one: the producer hears what its consumer says to a result before it makes the next."""
        for side, each in enumerate(self.inputs):
            if source in sources(each.tree):
                for one in each.producer.receive(source, part) if each.producer else (part,):
                    yield from self.process_input(side, one)

    def process_input(self, side: int, part: Part) -> Iterator[Part]:
        held, mine = Held(part), self.inputs[side]
        yield from self.enter(side, held)
        if mine.producer and side in self.waiting and held.present:
            for mns in self.identify(side, part):
                if mns not in mine.buffer:
                    mine.buffer.append(mns)
                    mine.producer.handle_feedback("suspend", mns)

    def identify(self, side: int, part: Part) -> list[Mns]:
        components = [_only(part.row, names) for names in self.components[side]]
        opposite = (held.part.row for held in self.inputs[1 - side].state)
        found = identify_mns(components, opposite, lambda values, row: self.matches(side, values, row))
        return [Mns(self.tree, Row.of({k: v for each in mns for k, v in each.cells})) for mns in found]

    def matches(self, side: int, values: Row, opposite: Row) -> bool:
        """Under the conditions on those attributes of a side that `values` has. NULL matches nothing."""
        mine, theirs = dict(values.cells), dict(opposite.cells)
        compared = ((mine[p[side]], theirs[p[1 - side]]) for p in self.pairs if p[side] in mine)
        return all(one is not None and one == other for one, other in compared)

    def enter(self, side: int, held: Held) -> Iterator[Part]:
        """Brings back what waits for the row, which then meets what it has not met of the opposite state."""
        mine, other = self.inputs[side], self.inputs[1 - side]
        if any(mns.covers(held.part) for mns in mine.suspended):
            mine.blacklist.append(held)
            self.counts["suspended"] += 1
            return
        for part in self.demand(1 - side, held.part):
            yield from self.enter(1 - side, Held(part))
        missed = [partner for partner in other.state if self.missed(held, partner)]
        self.clock += 1
        marks = frozenset(mns for mns in self.marking if mns.within(mine.columns).covers(held.part))
        self.counts["marked"] += len(marks)
        held.spells.append(Spell(self.clock, inf, marks))
        mine.state.append(held)
        probe = self.probe = Probe(held)
        for partner in missed:
            # feedback to the result before may have suspended or marked either
            if held.present and partner.present and not held.latest.marks & partner.latest.marks:
                probe.at = partner.latest.since
                if self.matches(side, held.part.row, partner.part.row):
                    self.made.append(held.part | partner.part)
                    yield self.made[-1]
        self.probe = None

    def demand(self, side: int, partner: Part) -> list[Part]:
        """What the producer of a side holds back for want of such a partner."""
        asked = self.inputs[side]
        found, asked.buffer = _split(asked.buffer, lambda mns: self.matches(side, mns.values, partner.row))
        return [part for mns in found if asked.producer for part in asked.producer.handle_feedback("resume", mns)]

    def missed(self, held: Held, partner: Held) -> bool:
        return not held.met(partner)

    def handle_feedback(self, command: Command, mns: Mns) -> list[Part]:
        """The results that a resumption brings, which have not been made before."""
        returned = self.propagate_feedback(command, mns)
        if command == "resume":
            return self.resume_production(mns, returned)
        self.suspend_production(mns)
        return []

    def propagate_feedback(self, command: Command, mns: Mns) -> list[tuple[int, Part]]:
        producers = [(side, self.inputs[side].producer) for side in self.whole(mns)]
        return [(side, part) for side, each in producers if each for part in each.handle_feedback(command, mns)]

    def whole(self, mns: Mns) -> list[int]:
        """The sides that have all of an MNS: one if it is of type I, none if of type II, both if it is Ø."""
        return [side for side in (0, 1) if set(mns.values) <= self.inputs[side].columns]

    def suspend_production(self, mns: Mns) -> None:
        for side in self.whole(mns):
            mine = self.inputs[side]
            mine.suspended.append(mns)
            moved, mine.state = _split(mine.state, lambda held: mns.covers(held.part))
            mine.blacklist += moved
            self.counts["suspended"] += len(moved)
            for held in moved:
                held.close(self.suspension_time(held))
        if not self.whole(mns):
            self.marking.append(mns)
            for mine in self.inputs:
                marked = [held for held in mine.state if mns.within(mine.columns).covers(held.part)]
                self.counts["marked"] += len(marked)
                for held in marked:
                    held.mark(mns, self.suspension_time(held))

    def suspension_time(self, held: Held) -> int:
        """The rows that a probing row has not come to yet have not met it, nor it them."""
        if self.probe is None:
            return self.clock
        if held is self.probe.held:
            return self.probe.at
        return self.clock if held.latest.since <= self.probe.at else self.clock - 1

    def resume_production(self, mns: Mns, returned: Iterable[tuple[int, Part]]) -> list[Part]:
        back = [(side, Held(part)) for side, part in returned]
        for side in self.whole(mns):
            mine = self.inputs[side]
            mine.suspended.remove(mns)
            moved, mine.blacklist = _split(mine.blacklist, lambda held: mns.covers(held.part))
            self.counts["resumed"] += len(moved)
            back += [(side, held) for held in moved]
        if not self.whole(mns):
            self.marking.remove(mns)
            for side, mine in enumerate(self.inputs):
                moved, mine.state = _split(mine.state, lambda held: mns in held.latest.marks)
                self.counts["unmarked"] += len(moved)
                for held in moved:
                    held.close(self.clock)
                back += [(side, held) for held in moved]
        return [part for side, held in back for part in self.enter(side, held)]

    def purge(self, now: int) -> None:
        self.now = now
        for mine in self.inputs:
            mine.state = [held for held in mine.state if self.alive(held)]
            mine.blacklist = [held for held in mine.blacklist if self.awaited(held)]
        for mine in self.inputs:
            if mine.producer:
                mine.producer.purge(now)
                over, mine.buffer = _split(mine.buffer, mine.producer.idle)
                for mns in over:
                    mine.producer.handle_feedback("resume", mns)

    def alive(self, held: Held) -> bool:
        return held.part.first >= self.now - self.window

    def awaited(self, suspended: Held) -> bool:
        return self.alive(suspended)

    def idle(self, mns: Mns) -> bool:
        """Neither a row nor, of type II, a pair of rows is held back for the MNS, here or upstream."""
        if not self.whole(mns):
            return any(all(mns not in held.latest.marks for held in mine.state) for mine in self.inputs)
        return all(
            not any(mns.covers(held.part) for held in mine.blacklist)
            and (mine.producer is None or mine.producer.idle(mns))
            for mine in (self.inputs[side] for side in self.whole(mns))
        )

    def joins(self) -> Iterator[JitJoin]:
        yield self
        for each in self.inputs:
            if each.producer:
                yield from each.producer.joins()


def run(root: JitJoin, slices: Iterable[Sequence[tuple[int, Row]]]) -> Iterator[list[Part]]:
    """The results of each slice, whose rows, each with its source, come in this order and at the same time."""
    number = 0
    for now, rows in enumerate(slices):
        root.purge(now)
        results: list[Part] = []
        for source, row in rows:
            results += root.receive(source, Part(frozenset({number}), row, now, now))
            number += 1
        yield results


def sources(tree: Tree) -> frozenset[int]:
    return frozenset({tree}) if isinstance(tree, int) else frozenset().union(*map(sources, tree))


def _only(row: Row, names: Iterable[str]) -> Row:
    return Row(tuple(cell for cell in row.cells if cell[0] in names))


def _split(rows: Iterable[T], first: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those for which it holds, and the others."""
    parts: tuple[list[T], list[T]] = ([], [])
    for each in rows:
        parts[not first(each)].append(each)
    return parts
