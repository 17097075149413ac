"""Joins that make only what is demanded give the same results in the same slices as those that make everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Literal, TypeAlias

import pytest

from caesura.model.feedback import Command, Held, JitJoin, Mns, Part, Query, run, sources
from caesura.model.lattice import identify_mns
from caesura.model.operator import Row
from caesura.plan import Equality, Tree

CASES = 3000

Slices: TypeAlias = list[list[tuple[int, Row]]]
Violation: TypeAlias = Literal["lost", "extra", "late", "twice", "undue", "unmet", "waits", "left"]
Name: TypeAlias = tuple[str, ...]


def generated(number: int) -> tuple[Query, Slices]:
    """Few values, some columns with only one: a row has both partners and sub-tuples without."""
    rng = Random(number)
    n = rng.choice((3, 4, 4, 5))
    order = rng.sample(range(n), n)
    columns, equalities = graph(n, rng.choice((chain, star, clique, clique))(n), one_key=rng.random() < 0.25)
    query = Query(
        left_deep(order) if rng.random() < 0.4 else bushy(order, rng),
        columns,
        equalities,
        window=rng.choice((0, 1, 2, 3, 5, 9, 99, 99, 99)),
    )
    values = rng.choice(((0, 1), (0, 1), (0, 1, 2), (0, 1, None)))
    constant = rng.choice((0.0, 0.3, 0.5))
    of = {e: (0,) if rng.random() < constant else values for e in equalities}
    domain = {name: of[e] for e in equalities for name in (e.left, e.right)}
    slices: Slices = [[]]
    for _ in range(rng.randint(8, 24)):
        while rng.random() < 0.4:
            slices.append([])
        source = rng.randrange(n)
        slices[-1].append((source, Row.of({name: rng.choice(domain[name]) for name in columns[source]})))
    return query, slices


def chain(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n - 1)]


def star(n: int) -> list[tuple[int, int]]:
    return [(0, i) for i in range(1, n)]


def clique(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def graph(
    n: int, edges: Sequence[tuple[int, int]], *, one_key: bool = False
) -> tuple[tuple[Name, ...], tuple[Equality, ...]]:
    """Columns, for each source, and conditions: with a column of each source per condition, or only one."""

    def name(source: int, i: int, j: int) -> str:
        return f"s{source}.k" if one_key else f"s{source}.{i}{j}"

    columns = tuple(tuple(sorted({name(s, *edge) for edge in edges if s in edge})) for s in range(n))
    return columns, tuple(Equality(name(i, i, j), name(j, i, j)) for i, j in edges)


def left_deep(order: Sequence[int]) -> Tree:
    tree: Tree = order[0]
    for source in order[1:]:
        tree = (tree, source)
    return tree


def bushy(order: Sequence[int], rng: Random) -> Tree:
    if len(order) == 1:
        return order[0]
    cut = rng.choice((rng.randrange(1, len(order)), len(order) // 2))
    return bushy(order[:cut], rng), bushy(order[cut:], rng)


def joined(query: Query, slices: Slices, of: Iterable[int]) -> list[Part]:
    """All combinations of rows of these sources, that agree and are within the window."""
    arrivals = [(source, row, now) for now, rows in enumerate(slices) for source, row in rows]
    found: list[Part] = [Part(frozenset(), Row(), len(slices), -1)]
    for source in of:
        own = [Part(frozenset({i}), row, now, now) for i, (s, row, now) in enumerate(arrivals) if s == source]
        found = [both for part in found for one in own if agrees(query, both := part | one)]
    return found


def agrees(query: Query, part: Part) -> bool:
    values = dict(part.row.cells)
    compared = ((values[e.left], values[e.right]) for e in query.equalities if {e.left, e.right} <= values.keys())
    return part.last - part.first <= query.window and all(x is not None and x == y for x, y in compared)


@dataclass(frozen=True)
class Outcome:
    """`made` and `possible` are partial results: those of all joins but the last, with and without demand."""

    violations: frozenset[Violation]
    made: int
    possible: int
    counts: Counter[str]


def outcome(query: Query, slices: Slices, kind: type[JitJoin] = JitJoin) -> Outcome:
    root = kind(query, query.tree)
    violations: set[Violation] = set()
    came: list[Part] = []
    for now, results in enumerate(run(root, slices)):
        came += results
        violations |= {"late" for part in results if part.last != now}
        violations.update(unsettled(root) if slices[now] else ())
    violations |= {"lost"} if set(joined(query, slices, sources(query.tree))) - set(came) else set()
    made, possible, counts = 0, 0, Counter[str]()
    for join in root.joins():
        without = joined(query, slices, sources(join.tree))
        violations |= {"twice"} if len(set(join.made)) < len(join.made) else set()
        if set(join.made) - set(without):
            violations.add("extra" if join is root else "undue")
        if join is not root:
            made, possible = made + len(join.made), possible + len(without)
        counts += join.counts
    root.purge(len(slices) + query.window + 1)
    if any(join.marking or any(kept(join)) for join in root.joins()):
        violations.add("left")
    return Outcome(frozenset(violations), made, possible, counts)


def unsettled(root: JitJoin) -> Iterator[Violation]:
    """Between slices, who has a partner has met it, and who waits does so for an MNS that has none."""
    found = {mns for join in root.joins() for each in join.inputs for mns in each.buffer}
    for join in root.joins():
        for side, each in enumerate(join.inputs):
            opposite = join.inputs[1 - side].state
            if any(join.matches(side, mns.values, held.part.row) for mns in each.buffer for held in opposite):
                yield "waits"
            for held in each.blacklist:
                if not any(mns.covers(held.part) and mns in found for mns in each.suspended):
                    yield "waits"
        made = {part.arrivals for part in join.made}
        for one, other in product(*(each.state for each in join.inputs)):
            settled = one.latest.marks & other.latest.marks or one.part.arrivals | other.part.arrivals in made
            if not settled and join.matches(0, one.part.row, other.part.row):
                yield "unmet"


def kept(join: JitJoin) -> Iterator[object]:
    for each in join.inputs:
        yield from (*each.state, *each.blacklist, *each.suspended, *each.buffer)


class Overheard(JitJoin):
    """Says in `counts` which feedback it gets, and whether from its consumer or from further down."""

    def handle_feedback(self, command: Command, mns: Mns) -> list[Part]:
        results = super().handle_feedback(command, mns)
        what = ("of type II", "of type I", "Ø")[len(self.whole(mns))]
        how = "found" if self.tree in (mns.consumer if isinstance(mns.consumer, tuple) else ()) else "relayed"
        self.counts[f"{command} {what}, {how}"] += bool(results) if command == "resume" else 1
        return results


@cache
def outcomes() -> list[Outcome]:
    return [outcome(*generated(number), Overheard) for number in range(CASES)]


def test_results_are_the_same_in_the_same_slices_and_nothing_is_made_twice_or_waits_in_vain() -> None:
    assert {number: each.violations for number, each in enumerate(outcomes()) if each.violations} == {}


def test_fewer_partial_results_are_made_than_without_demand() -> None:
    assert all(each.made <= each.possible for each in outcomes())
    assert sum(each.made for each in outcomes()) < 0.8 * sum(each.possible for each in outcomes())


def test_rows_are_suspended_resumed_marked_and_unmarked() -> None:
    counts = sum((each.counts for each in outcomes()), Counter[str]())
    assert min(counts[what] for what in ("suspended", "resumed", "marked", "unmarked")) > 300


def test_every_kind_of_feedback_is_given_relayed_and_answered_with_rows() -> None:
    counts = sum((each.counts for each in outcomes()), Counter[str]())
    for command in ("suspend", "resume"):
        for what in ("of type I", "of type II", "Ø"):
            assert all(counts[f"{command} {what}, {how}"] > 0 for how in ("found", "relayed")), counts


class ForgetsTheSlice(JitJoin):
    """A row that comes back does not meet what has come in the same slice."""

    def missed(self, held: Held, partner: Held) -> bool:
        return super().missed(held, partner) and not (held.spells and partner.part.last == self.now)


class KeepsTheSuspended(JitJoin):
    """A suspended row escapes the window."""

    def awaited(self, suspended: Held) -> bool:
        return True


class WaitForEachOther(JitJoin):
    """As in the paper, both sides judge by each other's partial results."""

    @property
    def waiting(self) -> tuple[int, ...]:
        return (0, 1)


class SuspendedEarlier(JitJoin):
    def suspension_time(self, held: Held) -> int:
        return super().suspension_time(held) - 1


class SuspendedLater(JitJoin):
    def suspension_time(self, held: Held) -> int:
        return super().suspension_time(held) + 1


class SuspendedBeforeTheProbe(JitJoin):
    """As in the paper, by time: a row that is suspended while it probes has met all that was there before it."""

    def suspension_time(self, held: Held) -> int:
        return self.clock


class RemembersTheLastSpellOnly(JitJoin):
    """Where both rows have been suspended, one suspension time is not enough to tell whether they have met."""

    def missed(self, held: Held, partner: Held) -> bool:
        return not held.spells or partner.latest.since > held.latest.until


class ResumesNobodyElse(JitJoin):
    """As in the paper, only a new row probes the MNS buffer."""

    resuming = False

    def resume_production(self, mns: Mns, returned: Iterable[tuple[int, Part]]) -> list[Part]:
        self.resuming = True
        results = super().resume_production(mns, returned)
        self.resuming = False
        return results

    def demand(self, side: int, partner: Part) -> list[Part]:
        return [] if self.resuming else super().demand(side, partner)


class LosesTheMns(JitJoin):
    """An MNS leaves the buffer although rows wait for it."""

    def idle(self, mns: Mns) -> bool:
        return True


class ResumesOnlyHere(JitJoin):
    def propagate_feedback(self, command: Command, mns: Mns) -> list[tuple[int, Part]]:
        return super().propagate_feedback(command, mns) if command == "suspend" else []


PLANTED: list[tuple[type[JitJoin], Violation]] = [
    (ForgetsTheSlice, "lost"),
    (KeepsTheSuspended, "extra"),
    (KeepsTheSuspended, "left"),
    (WaitForEachOther, "lost"),
    (SuspendedEarlier, "twice"),
    (SuspendedLater, "lost"),
    (SuspendedBeforeTheProbe, "lost"),
    (RemembersTheLastSpellOnly, "twice"),
    (ResumesNobodyElse, "waits"),
    (LosesTheMns, "lost"),
    (ResumesOnlyHere, "lost"),
]


@pytest.mark.parametrize(
    ("bug", "violation"), PLANTED, ids=[f"{bug.__name__}: {violation}" for bug, violation in PLANTED]
)
def test_a_planted_bug_is_found(bug: type[JitJoin], violation: Violation) -> None:
    assert any(violation in outcome(*generated(number), bug).violations for number in range(CASES))


def smallest(components: Sequence[str], opposite: Sequence[frozenset[str]]) -> set[frozenset[str]]:
    """By definition, where a row of the opposite state is the set of components that it matches."""
    parts = [frozenset(part) for size in range(len(components) + 1) for part in combinations(components, size)]
    alone = [part for part in parts if not any(part <= row for row in opposite)]
    return {part for part in alone if not any(other < part for other in alone)}


def identified(components: Sequence[str], opposite: Sequence[frozenset[str]]) -> frozenset[frozenset[str]]:
    return identify_mns(components, opposite, lambda each, row: each in row)


def test_the_lattice_finds_the_smallest_parts_without_a_partner() -> None:
    rng = Random(0)
    for _ in range(3000):
        components = "abcde"[: rng.randrange(6)]
        rows = [frozenset(c for c in components if rng.random() < 0.6) for _ in range(rng.randrange(5))]
        assert identified(components, rows) == smallest(components, rows)


def test_a_and_c_have_partners_but_no_partner_in_common() -> None:
    """The paper's e1 and e2, of figure 5."""
    e1, e2 = frozenset("a"), frozenset("c")
    assert identified("abcd", [e1, e2]) == {frozenset("b"), frozenset("d"), frozenset("ac")}
    assert identified("abcd", []) == {frozenset()}
    assert identified("abcd", [frozenset("abcd")]) == frozenset()


def names(parts: Iterable[Part], arrived: Sequence[str]) -> set[str]:
    return {"".join(arrived[i] for i in sorted(part.arrivals, key=lambda i: arrived[i])) for part in parts}


def rows_of(join: JitJoin, side: int, arrived: Sequence[str]) -> tuple[set[str], set[str]]:
    """The rows in the state and in the blacklist of an input."""
    mine = join.inputs[side]
    return names((h.part for h in mine.state), arrived), names((h.part for h in mine.blacklist), arrived)


def test_table_one() -> None:
    columns: tuple[Name, ...] = (("a.x", "a.y"), ("b.x",), ("c.y",))
    query = Query(((0, 1), 2), columns, (Equality("a.x", "b.x"), Equality("a.y", "c.y")), 5)
    a, b, c = (0, Row.of({"a.x": 1, "a.y": 100})), (1, Row.of({"b.x": 1})), (2, Row.of({"c.y": 100}))
    other = (2, Row.of({"c.y": 7}))  # or else the state of C were empty, and Ø the MNS
    arrived = ["c0", "b1", "b2", "b3", "a1", "b4", "a2", "c1"]
    root = JitJoin(query, query.tree)
    steps = run(root, [[other, b, b, b], [a], [b], [a], [c]])
    op1 = root.inputs[0].producer
    assert op1 is not None
    for _ in range(4):
        assert next(steps) == []
    assert names(op1.made, arrived) == {"a1b1"}
    assert rows_of(op1, 0, arrived) == (set(), {"a1", "a2"})
    results = next(steps)
    returned = {"a1b2", "a1b3", "a1b4", "a2b1", "a2b2", "a2b3", "a2b4"}
    assert names(op1.made, arrived) == returned | {"a1b1"}
    assert names(results, arrived) == {f"{ab}c1" for ab in returned | {"a1b1"}}


def test_figure_five() -> None:
    columns: tuple[Name, ...] = (("a.x",), ("b.y",), ("c.z",), ("d.w",), ("e.x", "e.y", "e.z", "e.w"))
    equalities = tuple(Equality(name, f"e.{name[-1]}") for (name,) in columns[:4])
    query = Query((((0, 1), (2, 3)), 4), columns, equalities, 5)
    a, b, c, d = ((source, Row.of(dict.fromkeys(columns[source], 1))) for source in range(4))
    e0 = (4, Row.of({"e.x": 0, "e.y": 1, "e.z": 0, "e.w": 1}))
    e1 = (4, Row.of(dict.fromkeys(columns[4], 1)))
    arrived = ["e0", "b1", "c1", "d1", "a1", "b2", "d2", "e1"]
    root = JitJoin(query, query.tree)
    steps = run(root, [[e0, b, c, d], [a], [b, d], [e1]])
    op3 = root.inputs[0].producer
    assert op3 is not None
    op1, op2 = (each.producer for each in op3.inputs)
    assert op1 is not None
    assert op2 is not None
    assert (next(steps), next(steps), next(steps)) == ([], [], [])
    assert [rows_of(op, 0, arrived) for op in (op1, op2, op3)] == [
        (set(), {"a1"}),
        (set(), {"c1"}),
        (set(), {"a1b1"}),
    ]
    assert (names(op1.made, arrived), names(op2.made, arrived)) == ({"a1b1"}, {"c1d1"})
    assert names(next(steps), arrived) == {f"a1b{i}c1d{j}e1" for i in (1, 2) for j in (1, 2)}


def test_two_joins_that_wait_for_each_other_lose_a_result() -> None:
    """In the paper's own setting: a is suspended for want of cd, c for want of ab, both after a partial result."""
    columns, equalities = graph(4, clique(4))
    query = Query(((0, 1), (2, 3)), columns, equalities, 99)

    def row(source: int, **values: int) -> tuple[int, Row]:
        return source, Row.of({name: values.get(f"x{name[-2:]}", 0) for name in columns[source]})

    slices = [
        [row(2, x02=9, x12=9), row(3, x03=9, x13=9)],
        [row(0, x02=1, x03=1), row(1)],  # a waits for a row cd with both its values
        [row(2, x02=1, x12=1), row(3)],  # c matches a, and waits for a row ab with another b
        [row(3, x03=1, x13=1)],
        [row(1, x12=1, x13=1)],
    ]
    assert len(joined(query, slices, range(4))) == 1
    assert outcome(query, slices).violations == set()
    assert outcome(query, slices, WaitForEachOther).violations == {"lost"}
