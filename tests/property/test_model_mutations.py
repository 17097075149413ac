"""Bugs planted in the operators are found by the properties, in the traces, that `test_model` checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace

import pytest

from caesura.model.distinct import Distinct
from caesura.model.frame import Frame
from caesura.model.group import Group
from caesura.model.join import Hop, Join
from caesura.model.merge import Merge
from caesura.model.operator import Operator, Row, Rows, Slice, State
from caesura.model.pair import Pair
from caesura.model.project import Project
from caesura.model.rank import CAME, Rank
from caesura.model.select import Select
from caesura.model.session import Session, end, start
from caesura.model.sort import Sort
from caesura.plan import SESSION_END, SESSION_START
from caesura.punctuation import (
    EVERYTHING,
    Pattern,
    Punctuation,
    Range,
    Wildcard,
    confined,
    match,
    rename,
    set_match,
)
from tests.property.faithful import Violation, moments, violations
from tests.property.operators import CASES, OPERATORS, Over
from tests.property.test_model import PER_OPERATOR, PER_VARIANT
from tests.property.traces import generated


class ForgetsNewWithNew(Join):
    """Rows that arrive in the same slice do not meet."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        arrived = [self.joinable(slice.rows) for slice in new]
        held = [slice.rows for slice in state]
        terms = (self.joined([*held[:k], rows, *held[k + 1 :]]) for k, rows in enumerate(arrived))
        matches = tuple(row for term in terms for row in term if not self.residual or self.residual(row))
        return matches, tuple(
            s + Slice(rows, n.punctuations) for s, rows, n in zip(state, arrived, new, strict=True)
        )


class CountsNewWithNewTwice(Join):
    """Every term joins with the state after the slice."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        _, grown = super().step(state, new)
        return super().step(grown, new)[0], grown


class PropagatesAtOnce(Join):
    """A punctuation is passed on although rows that match it are still waiting for partners."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations | kept[1].punctuations


class TakesNullForEqual(Join):
    def agree(self, row: Row) -> bool:
        groups = ([row[a] for a in together if a in row] for together in self.classes)
        return all(len(set(values)) <= 1 for values in groups)


class PurgesByAnyPunctuation(Join):
    """A partner is taken for impossible because some of its rows are."""

    def covered(self, row: Row, hop: Hop, punctuations: Iterable[Punctuation]) -> bool:
        return super().covered(row, hop, [_within(p, dict(hop.pins)) for p in punctuations])


class PurgesByItself(Join):
    """A row goes when its own stream has closed its key."""

    def purgeable(self, row: Row, order: tuple[Hop, ...], state: State) -> bool:
        mine = next(i for i, names in enumerate(self.columns) if set(names) == set(row))
        return super().purgeable(row, order, state) or set_match(row, state[mine].punctuations)


class StopsAfterTheFirstHop(Join):
    def purgeable(self, row: Row, order: tuple[Hop, ...], state: State) -> bool:
        return super().purgeable(row, order[:1], state)


class EndsTheWindowEarly(Join):
    """A partner may come until the window ends, not only until the row's own time."""

    def covered(self, row: Row, hop: Hop, punctuations: Iterable[Punctuation]) -> bool:
        short = tuple(replace(band, more=0) for band in hop.bands)
        return super().covered(row, replace(hop, bands=short), punctuations)


class TakesAPointForAllBefore(Join):
    """That the end of a window is closed does not mean that what comes before it is."""

    def covered(self, row: Row, hop: Hop, punctuations: Iterable[Punctuation]) -> bool:
        partner = {theirs: row[ours] for theirs, ours in hop.pins}
        partner |= {band.column: band.end(row) for band in hop.bands}
        return any(confined(p, partner) and match(partner, p) for p in punctuations)


class RewritesToAnUnequalAttribute(Join):
    """Of an equality class, the punctuation is written on a neighbour that is not a member."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return super().prop(kept) | {
            q for p in super().prop(kept) if (q := rename(p, {"a": "b", "c": "b"})) is not None
        }


class ClosesByAnyPunctuation(Group):
    """Patterns outside the grouping attributes are ignored."""

    def closing(self, punctuations: Iterable[Punctuation]) -> frozenset[Punctuation]:
        return frozenset(_within(p, self.keys) for p in punctuations)


class ClosesNullByAnyPattern(Group):
    """NULL is taken to be matched by every pattern on its key."""

    def pass_(self, state: State) -> Rows:
        (held,) = state
        closed = [p for p in held.rows if self._closed(p, held.punctuations)]
        return tuple(self.finished(partial) for partial in closed)

    def keep(self, state: State) -> State:
        (held,) = state
        return (Slice(tuple(p for p in held.rows if not self._closed(p, held.punctuations)), held.punctuations),)

    def _closed(self, partial: Row, punctuations: Iterable[Punctuation]) -> bool:
        known = [key for key in self.keys if partial[key] is not None]
        return any(match(partial, _within(p, known)) for p in self.closing(punctuations))


class NeverCloses(Group):
    def pass_(self, state: State) -> Rows:
        return ()


class LetsTouchingSessionsBeTwo(Session):
    """A row as late as the end is not taken in."""

    def meet(self, before: Row, after: Row) -> bool:
        return start(after) < end(before)


class JoinsOnlyWhatIsNew(Session):
    """A row between two sessions that are open is joined to none of them."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,) = state
        _, (alone,) = super().step((Slice(),), new)
        return (), (held + alone,)


class ClosesByTheLastRow(Session):
    """A session is taken for complete when time has passed its last row, not its end."""

    def complete(self, session: Row, said: Iterable[Punctuation]) -> bool:
        return super().complete(Row.of(dict(session) | {SESSION_END: end(session) - self.gap}), said)


class ClosesByAPieceOfTime(Session):
    """That the end is closed does not mean that all before it is."""

    def complete(self, session: Row, said: Iterable[Punctuation]) -> bool:
        values = {**{name: session[name] for name in self.keys}, self.time: session[SESSION_END]}
        return any(confined(p, values) and match(values, p) for p in said)


class EndsByPartOfAKey(Session):
    """Patterns on what is aggregated are ignored."""

    def complete(self, session: Row, said: Iterable[Punctuation]) -> bool:
        return super().complete(session, [_within(p, (*self.keys, self.time)) for p in said])


class PassesTheBoundOfStarts(Session):
    """A session that started long ago may still come out."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return frozenset(
            p for q in super().prop(kept) if (p := rename(q, {SESSION_END: SESSION_START})) is not None
        )


class PassesPiecesOfTime(Session):
    """What is closed of times between two others says nothing of ends."""

    def closes(self, times: Pattern) -> bool:
        return True


class KeepsRowsWithoutATime(Session):
    """Their time is taken for 0."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (arrived,) = new
        rows = tuple(Row.of(dict(row) | {self.time: row[self.time] or 0}) for row in arrived.rows)
        return super().step(state, (Slice(rows, arrived.punctuations),))


class WaitsForTheEnd(Session):
    """Only what closes whole keys lets a session go."""

    def complete(self, session: Row, said: Iterable[Punctuation]) -> bool:
        return super().complete(session, [p for p in said if confined(p, self.keys)])


class DropsPatterns(Project):
    """Patterns on attributes that are projected away are left out instead of holding back the punctuation."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        confined = Slice((), frozenset(_within(p, self.copies) for p in kept[0].punctuations))
        return super().prop((confined,))


class TakesUnknownForTrue(Select):
    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        _, grown = super().step(state, new)
        return tuple(row for row in new[0].rows if self.predicate(row) is not False), grown


class ExcludesTheBound(Select):
    """The complement of v > 0 is taken to be v <= 1."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return super().prop(kept) | {Punctuation.of({"v": Range(high=1)})}


class ForgetsByPartOfARow(Distinct):
    """A row is forgotten because its k is closed for some v."""

    def keep(self, state: State) -> State:
        (held,) = state
        (kept,) = super().keep((Slice(held.rows, frozenset(_within(p, ("k",)) for p in held.punctuations)),))
        return (Slice(kept.rows, held.punctuations),)


class ForgetsNull(Distinct):
    """A row with a NULL is forgotten at any punctuation."""

    def keep(self, state: State) -> State:
        (kept,) = super().keep(state)
        values = tuple(row for row in kept.rows if None not in row.values())
        return (Slice(values if kept.punctuations else kept.rows, kept.punctuations),)


class HoldsBack(Distinct):
    """A row goes out only once no more of its kind can come."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        return (), super().step(state, new)[1]

    def pass_(self, state: State) -> Rows:
        return tuple(row for row in state[0].rows if set_match(row, state[0].punctuations))


class PassesEitherSides(Merge):
    """What one input has closed is taken to be closed."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations | kept[1].punctuations


class PassesTheLeftSides(Merge):
    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations


class LosesTheRight(Merge):
    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        return new[0].rows, super().step(state, new)[1]


class PurgesPairsByItself(Pair):
    """A row goes when its own input has closed its key: no partner is waited for."""

    def closed(self, i: int, row: Row, state: State) -> bool:
        own = [p for p in state[i].punctuations if p.attributes <= {pair[i] for pair in self.pairs}]
        return super().closed(i, row, state) or set_match(row, own)


class ClosesPairsByAnyPunctuation(Pair):
    """No partner is taken to come because some of its rows do not."""

    def closed(self, i: int, row: Row, state: State) -> bool:
        within = frozenset(_within(p, [pair[1 - i] for pair in self.pairs]) for p in state[1 - i].punctuations)
        return super().closed(i, row, (*state[: 1 - i], Slice((), within), *state[2 - i :]))


class EmitsTheLonelyAtOnce(Pair):
    """A row is lonely that has no partner yet."""

    def closed(self, i: int, row: Row, state: State) -> bool:
        return i in self.lonely or super().closed(i, row, state)


class ForgetsPartners(Pair):
    """That a row has had a partner is forgotten: it ends up lonely."""

    def _had(self, i: int, row: Row, state: State) -> bool:
        return False


class ForgetsPartnersThatLeft(Pair):
    """Only a partner that is still there counts."""

    def _had(self, i: int, row: Row, state: State) -> bool:
        return any(self.meet(*((row, other) if i == 0 else (other, row))) for other in state[1 - i].rows)


class LosesRowsWithoutKey(Pair):
    """A NULL in the key is taken to mean that the row is of no interest."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        return super().step(state, [self._able(i, arrived) for i, arrived in enumerate(new)])


class TellsNullsApart(Pair):
    """NULL is not the same as NULL, as in a join."""

    def meet(self, one: Row, other: Row) -> bool:
        return super().meet(one, other) and None not in (one[ours] for ours, _ in self.pairs)


class PassesTheEndOfOneSide(Pair):
    """EVERYTHING of one input is passed on while lonely rows of the other are to come."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        ended = any(EVERYTHING in held.punctuations and not held.rows for held in kept[:2])
        return super().prop(kept) | ({EVERYTHING} if ended else set())


class PropagatesPairsAtOnce(Pair):
    def prop(self, kept: State) -> frozenset[Punctuation]:
        return super().prop(kept) | kept[0].punctuations


class TakesItForStrict(Project):
    """The value at the end of a range is taken to be closed, though its neighbours have the same."""

    def image(self, name: str, pattern: Pattern) -> Pattern:
        strict = Project(self.outputs, self.rises, frozenset(name for name, _ in self.rises))
        return strict.image(name, pattern)


class TakesSignsForDigits(Project):
    """What is beyond the part that rises is taken to be greater."""

    def image(self, name: str, pattern: Pattern) -> Pattern:
        return Project(self.outputs, self.rises).image(name, pattern)


class CountsBackwards(Project):
    """What is before the part that rises is taken to be less."""

    def image(self, name: str, pattern: Pattern) -> Pattern:
        parts = tuple((each, replace(part, low=-9)) for each, part in self.partly)
        return Project(self.outputs, self.rises, partly=parts).image(name, pattern)


class StartsAnywhere(Sort):
    """A range that is not open to the left, nor joined to one that is, is taken for a beginning."""

    def begins(self, each: Range) -> bool:
        return True


class OverlooksAPoint(Sort):
    """Below 1 and above 1 are taken to touch."""

    def reaches(self, one: Range, other: Range) -> bool:
        return super().reaches(one, replace(other, low_open=False))


class SortsByTheFirstKeyOnly(Sort):
    def place(self, row: Row) -> tuple[object, ...]:
        return super().place(row)[:1]


class SortsTheSecondKeyUpwards(Sort):
    def place(self, row: Row) -> tuple[object, ...]:
        first, second = self.keys
        return Sort((first, replace(second, descending=False))).place(row)


class RanksByAnyPunctuation(Rank):
    """A punctuation about some rows of a partition is taken to close it."""

    def final(self, row: Row, said: Iterable[Punctuation]) -> bool:
        return any(match(row, p) for p in said)


class ClosesTheNullPartition(Rank):
    """NULL in the partition is taken to be matched by any pattern."""

    def final(self, row: Row, said: Iterable[Punctuation]) -> bool:
        ours = {name: row[name] for name in self.partition if row[name] is not None}
        return super().final(row, [Punctuation.of({n: q for n, q in p.patterns if n in ours}) for p in said])


class KeepsOneTooFew(Rank):
    """The last of those that are asked for is not kept."""

    def keep(self, state: State) -> State:
        fewer = replace(self, limit=self.limit - 1) if self.limit else self
        return Rank.keep(fewer, state)


class TiesByArrival(Rank):
    """Where the order leaves rows equal, the one that came first is the first."""

    def counted(self, came: int, rows: list[Row]) -> Iterator[tuple[Row, int]]:
        return Rank.counted(replace(self, places=self.order), came, rows)


class CountsAnew(Rank):
    """How many have come out of a partition is forgotten."""

    def counters(self, held: Slice) -> Iterator[Row]:
        return iter(())


class CountsOnAfterTheClose(Rank):
    """The counter of a closed partition stays."""

    def counters(self, held: Slice) -> Iterator[Row]:
        yield from super().counters(Slice(held.rows, frozenset(held.punctuations - {EVERYTHING})))


class TakesAnyRangeForABeginning(Rank):
    """A range that is not open to the left is taken to be."""

    def final(self, row: Row, said: Iterable[Punctuation]) -> bool:
        return super().final(row, map(_opened, said))


class CountsTiesOnce(Rank):
    """Rows of one number are taken for one when later ones are counted."""

    def counters(self, held: Slice) -> Iterator[Row]:
        return (Row.of({**row, CAME: min(int(str(row[CAME])), 1)}) for row in super().counters(held))


class PassesBoundsOfAllRows(Rank):
    """A pattern on a column that no order is by is passed on, while rows wait."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations


class FramesByAnyPunctuation(Frame):
    """A punctuation about some rows of a partition is taken to close it."""

    def closed(self, row: Row, said: Iterable[Punctuation]) -> bool:
        return super().closed(row, [_within(p, self.partition) for p in said])


class TakesAPlaceForAllBefore(Frame):
    """That no row comes any more in the place of a row is taken to mean that none comes before it."""

    def passed(self, row: Row, said: Iterable[Punctuation], more: int = 0) -> bool:
        first = self.order[0].column
        return super().passed(row, said, more) or any(match(row, p) and confined(p, (first,)) for p in said)


class ReachesTooShort(Frame):
    """Rows that are still in a frame are gone."""

    def reached(self, out: Rows, said: Iterable[Punctuation]) -> Rows:
        return ()


class LosesTheFarthest(Frame):
    """Of what is out, that which is as far away as a frame reaches is gone."""

    def passed(self, row: Row, said: Iterable[Punctuation], more: int = 0) -> bool:
        return super().passed(row, said, more - 1 if more else 0)


class KeepsOneRowTooFew(Frame):
    def reached(self, out: Rows, said: Iterable[Punctuation]) -> Rows:
        fewer = tuple(replace(each, preceding=1) if each.function == "LAG" else each for each in self.functions)
        return Frame.reached(replace(self, functions=fewer), out, said)


class ForgetsWhatIsOut(Frame):
    """Frames without a beginning begin anew with every slice."""

    def keep(self, state: State) -> State:
        waiting, recent, _ = super().keep(state)
        return (waiting, recent, Slice())


class EndsARangeAtTheRow(Frame):
    """Rows that the order leaves equal are not taken together."""

    def beside(self, one: Row, other: Row) -> bool:
        return False


class PassesOnWhatItKeeps(Frame):
    """A punctuation is passed on although rows that match it are still waiting."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        return kept[0].punctuations


def _opened(p: Punctuation) -> Punctuation:
    return Punctuation(tuple((n, replace(q, low=None) if isinstance(q, Range) else q) for n, q in p.patterns))


def _within(p: Punctuation, attributes: Iterable[str]) -> Punctuation:
    within = set(attributes)
    return Punctuation(tuple((name, q if name in within else Wildcard()) for name, q in p.patterns))


PLANTED: list[tuple[type[Operator], str, Violation]] = [
    (TakesUnknownForTrue, "select", "unsafe"),
    (ExcludesTheBound, "select", "improper"),
    (DropsPatterns, "project", "improper"),
    (TakesItForStrict, "project of rising expressions", "improper"),
    (TakesSignsForDigits, "project of texts that rise in part", "improper"),
    (CountsBackwards, "project of texts that rise in part", "improper"),
    (ForgetsByPartOfARow, "distinct", "unsafe"),
    (ForgetsNull, "distinct", "unsafe"),
    (HoldsBack, "distinct", "incomplete"),
    (PassesEitherSides, "merge", "improper"),
    (LosesTheRight, "merge", "incomplete"),
    (PassesTheLeftSides, "union", "improper"),
    (PassesEitherSides, "union", "unsafe"),
    (PurgesPairsByItself, "intersect", "incomplete"),
    (TellsNullsApart, "intersect", "incomplete"),
    (EmitsTheLonelyAtOnce, "except", "unsafe"),
    (PurgesPairsByItself, "except", "unsafe"),
    (TellsNullsApart, "except", "unsafe"),
    (PropagatesPairsAtOnce, "except", "improper"),
    (ForgetsNewWithNew, "join", "incomplete"),
    (ForgetsNewWithNew, "cycle", "incomplete"),
    (CountsNewWithNewTwice, "join", "unsafe"),
    (PropagatesAtOnce, "join", "improper"),
    (TakesNullForEqual, "join", "unsafe"),
    (PurgesByAnyPunctuation, "join", "incomplete"),
    (PurgesByAnyPunctuation, "cycle", "incomplete"),
    (PurgesByItself, "join", "incomplete"),
    (StopsAfterTheFirstHop, "cycle", "incomplete"),
    (EndsTheWindowEarly, "window join", "incomplete"),
    (TakesAPointForAllBefore, "window join", "incomplete"),
    (ForgetsNewWithNew, "window join", "incomplete"),
    (ClosesPairsByAnyPunctuation, "anti join in time", "unsafe"),
    (StopsAfterTheFirstHop, "chain", "incomplete"),
    (RewritesToAnUnequalAttribute, "join on two attributes", "improper"),
    (ForgetsPartners, "left join", "unsafe"),
    (ForgetsPartnersThatLeft, "left join", "unsafe"),
    (ForgetsPartnersThatLeft, "right join", "unsafe"),
    (ForgetsPartnersThatLeft, "full join", "unsafe"),
    (ClosesPairsByAnyPunctuation, "left join", "unsafe"),
    (PassesTheEndOfOneSide, "left join", "improper"),
    (PassesTheEndOfOneSide, "right join", "improper"),
    (PropagatesPairsAtOnce, "full join", "improper"),
    (LosesRowsWithoutKey, "left join", "incomplete"),
    (LosesRowsWithoutKey, "right join", "incomplete"),
    (LosesRowsWithoutKey, "full join", "incomplete"),
    (ForgetsPartners, "semi join", "unsafe"),
    (PurgesPairsByItself, "semi join", "incomplete"),
    (EmitsTheLonelyAtOnce, "anti join", "unsafe"),
    (LosesRowsWithoutKey, "anti join", "incomplete"),
    (ClosesPairsByAnyPunctuation, "anti join with a residual", "unsafe"),
    (ClosesByAnyPunctuation, "group", "unsafe"),
    (ClosesByAnyPunctuation, "group", "improper"),
    (ClosesByAnyPunctuation, "group without keys", "unsafe"),
    (ClosesNullByAnyPattern, "group", "unsafe"),
    (ClosesNullByAnyPattern, "group by two keys", "unsafe"),
    (NeverCloses, "group", "incomplete"),
    (LetsTouchingSessionsBeTwo, "session", "unsafe"),
    (JoinsOnlyWhatIsNew, "session", "unsafe"),
    (JoinsOnlyWhatIsNew, "session without keys", "unsafe"),
    (ClosesByTheLastRow, "session", "unsafe"),
    (ClosesByAPieceOfTime, "session of times closed in pieces", "unsafe"),
    (EndsByPartOfAKey, "session", "unsafe"),
    (PassesTheBoundOfStarts, "session", "improper"),
    (PassesPiecesOfTime, "session of times closed in pieces", "improper"),
    (KeepsRowsWithoutATime, "session", "unsafe"),
    (WaitsForTheEnd, "session", "incomplete"),
    (StartsAnywhere, "sort", "unsafe"),
    (OverlooksAPoint, "sort", "unsafe"),
    (SortsByTheFirstKeyOnly, "sort", "unsafe"),
    (SortsTheSecondKeyUpwards, "sort", "unsafe"),
    (RanksByAnyPunctuation, "row number", "unsafe"),
    (RanksByAnyPunctuation, "rank by a bound", "unsafe"),
    (ClosesTheNullPartition, "row number", "unsafe"),
    (ClosesTheNullPartition, "rank", "unsafe"),
    (KeepsOneTooFew, "row number", "incomplete"),
    (KeepsOneTooFew, "rank", "incomplete"),
    (KeepsOneTooFew, "dense rank", "incomplete"),
    (TiesByArrival, "row number", "unsafe"),
    (PassesBoundsOfAllRows, "row number", "improper"),
    (PassesBoundsOfAllRows, "row number by a bound", "improper"),
    (CountsAnew, "row number by a bound", "unsafe"),
    (CountsAnew, "rank by a bound", "unsafe"),
    (CountsAnew, "dense rank by a bound", "unsafe"),
    (CountsAnew, "first row by a bound", "unsafe"),
    (CountsTiesOnce, "rank by a bound", "unsafe"),
    (CountsOnAfterTheClose, "row number by a bound", "unfinished"),
    (TakesAnyRangeForABeginning, "row number by a bound", "unsafe"),
    (FramesByAnyPunctuation, "frame", "unsafe"),
    (FramesByAnyPunctuation, "frame whose time may be NULL", "unsafe"),
    (TakesAPlaceForAllBefore, "frame", "unsafe"),
    (TakesAPlaceForAllBefore, "frame without partitions", "unsafe"),
    (ReachesTooShort, "frame", "unsafe"),
    (ReachesTooShort, "frame in a range", "unsafe"),
    (KeepsOneRowTooFew, "frame", "unsafe"),
    (LosesTheFarthest, "frame in a range", "unsafe"),
    (ForgetsWhatIsOut, "frame", "unsafe"),
    (EndsARangeAtTheRow, "frame", "unsafe"),
    (EndsARangeAtTheRow, "frame in a range", "unsafe"),
    (PassesOnWhatItKeeps, "frame", "improper"),
    (PassesOnWhatItKeeps, "frame in a range", "improper"),
]


@pytest.mark.parametrize(
    ("bug", "name", "violation"), PLANTED, ids=[f"{bug.__name__} in {name} is {how}" for bug, name, how in PLANTED]
)
def test_a_planted_bug_is_found(bug: type[Operator], name: str, violation: Violation) -> None:
    case = replace(CASES[name], operator=planted(bug, CASES[name].operator))
    number = PER_OPERATOR if name in OPERATORS else PER_VARIANT
    traces = (generated(case.domains, n) for n in range(number))
    assert any(violation in violations(case, list(moments(case, trace))) for trace in traces)


def planted(bug: type[Operator], operator: Operator) -> Operator:
    """The operator with the bug, or with the bug in the operator below it."""
    if isinstance(operator, Over):
        return replace(operator, inner=planted(bug, operator.inner))
    assert is_dataclass(operator)
    assert issubclass(bug, type(operator))
    return bug(**{field.name: getattr(operator, field.name) for field in fields(operator)})


def test_every_operator_has_a_planted_bug() -> None:
    assert {name for _, name, _ in PLANTED} >= OPERATORS.keys()
