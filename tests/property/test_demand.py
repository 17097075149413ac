"""A join that makes only the partial results that are in demand is the same join, slice by slice, as any tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import combinations
from random import Random
from typing import Literal, TypeAlias

import pytest

from caesura.model.demand import Demanded, Judge, Moves, Table, children
from caesura.model.join import Join
from caesura.model.operator import Band, Output, Row, Rows, Slice, State, run
from caesura.plan import Equality, Tree
from caesura.punctuation import EVERYTHING, Punctuation
from caesura.safety.tree import leaves
from tests.property.faithful import Case
from tests.property.meanings import Results
from tests.property.operators import BIT, BIT_OR_NULL, CASES, equalities, join
from tests.property.test_trees import every_tree
from tests.property.traces import Arrival, Closing, Domain, Trace, generated

Fault: TypeAlias = Literal["rows", "punctuations", "kept", "made", "unfinished"]
"""Other rows come out than of the plain join, or other punctuations; other rows stay; something is made that is
no combination of rows, or once more than there are such; something is left in the end."""


def only_compared(*inputs: object) -> Results:
    raise AssertionError("the plain join is the meaning here")


def linked(domains: tuple[Domain, ...], pairs: tuple[Equality, ...], bands: tuple[Band, ...] = ()) -> Case:
    """Every input asks the others upwards or downwards: whatever links there are, one of these goes along them."""
    others = [[k for k in range(len(domains)) if k != i] for i in range(len(domains))]
    return join(domains, pairs, [(each, each[::-1]) for each in others], only_compared, bands=bands)


def chain(n: int) -> Case:
    """r0 = l1, r1 = l2, …"""
    domains = (Domain({f"l{i}": BIT_OR_NULL, f"r{i}": BIT}) for i in range(n))
    return linked(tuple(domains), equalities(*(f"r{i} = l{i + 1}" for i in range(n - 1))))


def star(n: int) -> Case:
    """One in the middle, with a key of each of the others."""
    middle = Domain({f"m{i}": BIT for i in range(1, n)})
    return linked(
        (middle, *(Domain({f"k{i}": BIT_OR_NULL}) for i in range(1, n))),
        equalities(*(f"m{i} = k{i}" for i in range(1, n))),
    )


def clique(n: int) -> Case:
    """Every two have a condition of their own."""
    domains = (Domain({f"c{i}{k}": BIT for k in range(n) if k != i}) for i in range(n))
    return linked(tuple(domains), equalities(*(f"c{i}{k} = c{k}{i}" for i, k in combinations(range(n), 2))))


def windows(n: int) -> Case:
    """One key for all, and times that are at most 1 before or after the first."""
    domains = (Domain({f"k{i}": BIT, f"t{i}": (0, 1, None)}) for i in range(n))
    bands = (Band(f"t{i}", f"t{k}", 1) for k in range(1, n) for i, k in ((0, k), (k, 0)))
    return linked(tuple(domains), equalities(*(f"k0 = k{i}" for i in range(1, n))), tuple(bands))


def windowed_chain(n: int) -> Case:
    """Neighbours have a key, and the times rise by at most 1 from each to the next."""
    domains = (Domain({f"l{i}": BIT, f"r{i}": BIT, f"t{i}": BIT}) for i in range(n))
    bands = (band for i in range(n - 1) for band in (Band(f"t{i + 1}", f"t{i}", 1), Band(f"t{i}", f"t{i + 1}")))
    return linked(tuple(domains), equalities(*(f"r{i} = l{i + 1}" for i in range(n - 1))), tuple(bands))


def ends_differ(row: Row) -> bool:
    return row["l0"] != row["r3"]


def with_a_residual(case: Case) -> Case:
    assert isinstance(case.operator, Join)
    return replace(case, operator=replace(case.operator, residual=ends_differ))


OWN = {
    "chain of three": chain(3),
    "chain of four": chain(4),
    "chain of five": chain(5),
    "chain with a residual": with_a_residual(chain(4)),
    "star of four": star(4),
    "star of five": star(5),
    "clique of four": clique(4),
    "clique of five": clique(5),
    "windows of three": windows(3),
    "windows of four": windows(4),
    "windowed chain of three": windowed_chain(3),
}
JOINS = {name: c for name, c in CASES.items() if isinstance(c.operator, Join) and len(c.domains) > 2} | OWN
TRACES = {3: 128, 4: 56, 5: 32}
"""By the number of inputs."""
TREES = 3
"""For each trace."""


def demanded(kind: type[Demanded], case: Case, tree: Tree) -> Demanded:
    given = {each.name: getattr(case.operator, each.name) for each in fields(Join)}
    return kind(**given, tree=tree)


@cache
def trees(n: int) -> tuple[Tree, ...]:
    """All but the flat one."""
    return tuple(tree for tree in every_tree(tuple(range(n))) if tree != tuple(range(n)))


@dataclass(frozen=True)
class Pair:
    """A tree and a trace, with what the plain join makes of it."""

    case: Case
    tree: Tree
    slices: tuple[tuple[Slice, ...], ...]
    expected: tuple[Output, ...]


@cache
def pairs(name: str) -> tuple[Pair, ...]:
    """All traces end."""
    case, found = JOINS[name], list[Pair]()
    for number in range(TRACES[len(case.domains)]):
        rng = Random(number)
        trace = trickling(case.domains, rng) if number % 6 else generated(case.domains, number)
        first, *others = rng.sample(trees(len(case.domains)), TREES)
        each = paired(case, (*trace, tuple(Arrival((), (domain.end(),)) for domain in case.domains)), first)
        found += (each, *(replace(each, tree=tree) for tree in others))
    return tuple(found)


def paired(case: Case, trace: Trace, tree: Tree) -> Pair:
    arriving = slices(case, trace)
    return Pair(case, tree, arriving, tuple(run(case.operator, arriving)))


def trickling(domains: Sequence[Domain], rng: Random) -> Trace:
    """One or two inputs at a time, again and again, and little is closed: what waits has time to be resumed."""
    closings: list[tuple[Closing, ...]] = [()] * len(domains)
    trace = []
    for _ in range(2 * len(domains)):
        arrivals = [Arrival((), ())] * len(domains)
        for i in rng.sample(range(len(domains)), rng.choice((1, 2))):
            rows = rng.choices(domains[i].rows(), k=rng.choice((1, 1, 2)))
            said = (some_value(domains[i], rng),) if rng.random() < 0.25 else ()
            arrivals[i] = Arrival(tuple(r for r in rows if not any(r in c.rows for c in closings[i])), said)
            closings[i] += said
        trace.append(tuple(arrivals))
    return tuple(trace)


def some_value(domain: Domain, rng: Random) -> Closing:
    """A value of an attribute, or what is up to it."""
    name, kind = rng.choice(domain.names), rng.choice((0, 2))
    return domain.closing(((name, kind, rng.randrange(len(domain.patterns(name)[kind]))),))


def slices(case: Case, trace: Trace) -> tuple[tuple[Slice, ...], ...]:
    return tuple(
        tuple(
            Slice(tuple(map(domain.row, rows)), frozenset(each.punctuation for each in closings))
            for domain, (rows, closings) in zip(case.domains, slice, strict=True)
        )
        for slice in trace
    )


@dataclass(frozen=True)
class Moment:
    output: Output
    moves: Moves
    kept: State


def moments(join: Demanded, slices: Sequence[Sequence[Slice]]) -> Iterator[Moment]:
    """As `run`, with what happens to the tables."""
    state, passed = join.initial(), frozenset[Punctuation]()
    for new in slices:
        rows, grown = join.step(state, new)
        moves = join.moves(state, grown)
        state = join.keep(grown)
        due = join.prop(state) - passed
        passed |= due
        yield Moment(Output(rows, due, tuple(held.rows for held in join.present(state))), moves, state)


def faults(join: Demanded, pair: Pair) -> Iterator[Fault]:
    came = [Counter[Row]() for _ in pair.case.domains]
    made: dict[Tree, Counter[Row]] = {part: Counter() for part in join.parts}
    kept: State = ()
    for new, moment, expected in zip(pair.slices, moments(join, pair.slices), pair.expected, strict=True):
        kept = moment.kept
        if Counter(moment.output.rows) != Counter(expected.rows):
            yield "rows"
        if moment.output.punctuations != expected.punctuations:
            yield "punctuations"
        if list(map(Counter, moment.output.kept)) != list(map(Counter, expected.kept)):
            yield "kept"
        for counted, slice in zip(came, new, strict=True):
            counted.update(slice.rows)
        for part, rows in moment.moves.made.items():
            made[part].update(rows)
            if any(made[part][row] > combinations_of(join, part, row, came) for row in rows):
                yield "made"
    ended = all(any(EVERYTHING in slice[i].punctuations for slice in pair.slices) for i, _ in enumerate(came))
    if ended and any(held.rows for held in kept):
        yield "unfinished"


def combinations_of(join: Demanded, part: Tree, row: Row, came: Sequence[Counter[Row]]) -> int:
    """How many combinations of the rows that came this is."""
    found = len(join.joinable((row,)))
    for i in leaves(part):
        found *= came[i][Row.of({name: row[name] for name in join.columns[i]})]
    return found


@pytest.mark.parametrize("name", JOINS)
def test_it_is_the_same_join(name: str) -> None:
    for number, each in enumerate(pairs(name)):
        found = set(faults(demanded(Demanded, each.case, each.tree), each))
        assert not found, f"pair {number}, as {each.tree}: {found}"


def test_there_are_three_thousand_pairs() -> None:
    assert sum(TREES * TRACES[len(case.domains)] for case in JOINS.values()) > 3000


class Undemanded(Demanded):
    """A tree that makes all there is to make."""

    def judges(self, node: Tree) -> tuple[tuple[Tree, ...], ...]:
        return ()


class NeverLate(Demanded):
    """What met when it was not wanted is never made."""

    def late(self, below: Sequence[Table], judges: Sequence[Judge], made: Rows) -> Rows:
        return ()


def totals(kind: type[Demanded], name: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in pairs(name):
        for moment in moments(demanded(kind, each.case, each.tree), each.slices):
            counted["made"] += sum(map(len, moment.moves.made.values()))
            counted["resumed"] += len(moment.moves.resumed)
            counted["suspended"] += len(moment.moves.suspended)
    return counted


def test_much_is_never_made_and_some_is_made_late() -> None:
    name = "star of four"
    here, everything, never_late = totals(Demanded, name), totals(Undemanded, name), totals(NeverLate, name)
    assert never_late["made"] < here["made"] < 0.6 * everything["made"]
    assert everything["suspended"] == everything["resumed"] == 0
    assert min(here["suspended"], here["resumed"]) > 100


class JudgesByWhatWasThere(Demanded):
    """A row that comes together with its partner is suspended."""

    def wants(self, judge: Judge, row: Row) -> bool:
        return super().wants(tuple(Table(table.old) for table in judge), row)


class ResumesByOneAtATime(Demanded):
    """Two that come together bring nothing back."""

    def newly_wants(self, judge: Judge, row: Row) -> bool:
        terms = (
            [*(t.old for t in judge[:k]), judge[k].new, *(t.old for t in judge[k + 1 :])]
            for k in range(len(judge))
        )
        return any(self.joined([(row,), *term]) for term in terms)


class SuspendsForEver(Demanded):
    """A suspended row escapes the purge."""

    def keep(self, state: State) -> State:
        active, _, made = self.split(super().keep(state))
        return active + self.split(state)[1] + made


class KeepsWhatIsMade(Demanded):
    def keep(self, state: State) -> State:
        active, suspended, _ = self.split(super().keep(state))
        return active + suspended + self.split(state)[2]


class ForgetsWhatIsMade(Demanded):
    """What a part has made goes although its rows stay: it is made again."""

    def whole(self, part: Tree, row: Row, kept: State) -> bool:
        return False


class EachWaitsForTheOther(Demanded):
    """A part after is judged by what it has made, too."""

    def judge(self, part: Tree) -> tuple[Tree, ...]:
        return tuple(other for other in children(self.parents[part]) if other != part)


class MakesTwice(Demanded):
    """What is wanted anew is made, whether it is there or not."""

    def unmade(self, rows: Rows, made: Rows) -> Rows:
        return rows


class Drops(Demanded):
    """A row that is not wanted is nowhere."""

    def suspend(self, rows: Rows) -> Rows:
        return ()


PLANTED: list[tuple[type[Demanded], str, Fault]] = [
    (JudgesByWhatWasThere, "cycle", "rows"),
    (JudgesByWhatWasThere, "windows of three", "rows"),
    (ResumesByOneAtATime, "chain of four", "rows"),
    (ResumesByOneAtATime, "star of four", "rows"),
    (SuspendsForEver, "cycle", "kept"),
    (SuspendsForEver, "chain", "punctuations"),
    (SuspendsForEver, "windows of four", "unfinished"),
    (KeepsWhatIsMade, "cycle", "unfinished"),
    (ForgetsWhatIsMade, "star of four", "rows"),
    (EachWaitsForTheOther, "chain of four", "rows"),
    (EachWaitsForTheOther, "star of five", "rows"),
    (MakesTwice, "chain of three", "made"),
    (MakesTwice, "windowed chain of three", "rows"),
    (Drops, "chain of four", "kept"),
    (NeverLate, "cycle", "rows"),
    (NeverLate, "clique of four", "rows"),
]


@pytest.mark.parametrize(
    ("bug", "name", "fault"), PLANTED, ids=[f"{bug.__name__} in {name}: {how}" for bug, name, how in PLANTED]
)
def test_a_planted_bug_is_found(bug: type[Demanded], name: str, fault: Fault) -> None:
    assert any(fault in faults(demanded(bug, each.case, each.tree), each) for each in pairs(name))


class GoesByItself(Demanded):
    """What a part has made goes when nothing can come that would complete it, although its rows stay."""

    def whole(self, part: Tree, row: Row, kept: State) -> bool:
        return super().whole(part, row, kept) and not any(held.punctuations for held in kept)


def test_what_could_go_before_its_rows_is_not_made_again() -> None:
    """a and b have met, and d. Nothing with all three comes any more, as D and C say; but another c comes, which
    meets a and b, though not d. So C wants the pair, and D does, and yet there is nothing to be had."""
    case = JOINS["clique of four"]
    together = (Arrival(((0, 0, 0),), ()),) * 4
    closes_d = Arrival((), (case.domains[3].closing((("c30", 0, 0),)),))
    closes_c = Arrival((), (case.domains[2].closing((("c23", 0, 0),)),))
    none = Arrival((), ())
    another = (none, none, Arrival(((0, 0, 1),), ()), none)
    each = paired(case, (together, (none, none, closes_c, closes_d), another), (((0, 1), 2), 3))
    assert [len(output.rows) for output in each.expected] == [1, 0, 0]
    assert not set(faults(demanded(Demanded, case, each.tree), each))
    assert set(faults(demanded(GoesByItself, case, each.tree), each)) == {"made", "rows"}


def test_rows_wait_until_somebody_wants_them() -> None:
    case = JOINS["chain of three"]
    none = Arrival((), ())
    first = (Arrival(((0, 0),), ()), Arrival(((0, 1),), ()), none)
    last = (none, none, Arrival(((1, 0),), ()))
    each = paired(case, (first, last), ((0, 1), 2))
    before, after = moments(demanded(Demanded, case, each.tree), each.slices)
    assert (len(before.moves.suspended), before.moves.made) == (2, {(0, 1): ()})
    assert (len(after.moves.resumed), len(after.moves.made[0, 1]), len(after.output.rows)) == (2, 1, 1)
