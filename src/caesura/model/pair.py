"""Joins of two inputs whose lonely rows matter: outer, semi and anti joins, INTERSECT and EXCEPT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from caesura.model.distinct import firsts, identity
from caesura.model.operator import Band, Predicate, Row, Rows, Slice, State, covered
from caesura.punctuation import EVERYTHING, Punctuation, equal, rename, set_nomatch_punctuations

Kind = Literal["left", "right", "full", "semi", "anti"]


@dataclass(frozen=True)
class Pair:
    """pass: for outer joins all matches, for semi joins a row of the first input at its first partner; and the
    *lonely* rows, padded with NULLs: those of `lonely` inputs without a partner, once keep lets them go.

    keep: a row, unless a punctuation of the other input, confined to the attributes compared, matches the partner
    it waits for. A semi or anti join needs a row of its first input no more once it has a partner.

    prop: a punctuation of an input that no kept row of it matches, if it speaks of rows of this input alone: its
    lonely partners have NULLs there, which only the wildcard matches. Of a semi or anti join, only those of the
    first input.

    Which rows have had a partner is kept too: the partner may go first. Equal rows have the same partners, so it
    is kept once for each of them.

    `pairs` are the attributes compared; `bands` bound others, which a pattern closes that is open to the left.
    `same`: NULL is the same as NULL, as set operations have it; otherwise a row with a NULL there is lonely at
    once, and so is one that would have to equal two values.
    """

    columns: tuple[tuple[str, ...], tuple[str, ...]]
    pairs: tuple[tuple[str, str], ...]
    kind: Kind
    residual: Predicate | None = None
    same: bool = False
    bands: tuple[Band, ...] = ()

    @property
    def lonely(self) -> tuple[int, ...]:
        """The inputs whose rows come out without a partner."""
        return {"left": (0,), "anti": (0,), "right": (1,), "full": (0, 1), "semi": ()}[self.kind]

    @property
    def halves(self) -> bool:
        """Whether the rows of the first input alone come out."""
        return self.kind in ("semi", "anti")

    def initial(self) -> State:
        """The rows of both inputs, then those of them that have had a partner."""
        return (Slice(), Slice(), Slice(), Slice())

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        left, right, *had = state
        grown = (left + self._able(0, new[0]), right + self._able(1, new[1]))
        met = [
            (one, other)
            for one, others in (
                *((one, grown[1].rows) for one in self._able(0, new[0]).rows),
                *((one, self._able(1, new[1]).rows) for one in left.rows),
            )
            for other in others
            if self.meet(one, other)
        ]
        out: Rows = tuple(self.padded(i, row) for i in self.lonely for row in new[i].rows if not self.able(i, row))
        if self.kind == "semi":
            out += tuple(one for one in self._once(left.rows, new[0].rows, met))
        elif self.kind != "anti":
            out += tuple(one | other for one, other in met)
        partners = tuple(Slice(firsts((*before.rows, *(pair[i] for pair in met)))) for i, before in enumerate(had))
        return out, (*grown, *partners)

    def _able(self, i: int, arrived: Slice) -> Slice:
        return Slice(tuple(row for row in arrived.rows if self.able(i, row)), arrived.punctuations)

    def able(self, i: int, row: Row) -> bool:
        """Whether a row can have a partner at all."""
        wanted: dict[str, object] = {}
        alike = (equal(row[pair[i]], wanted.setdefault(pair[1 - i], row[pair[i]])) for pair in self.pairs)
        return self.same or (all(alike) and all(band.holds(row) for band in self.bands))

    def meet(self, one: Row, other: Row) -> bool:
        alike = (
            equal(one[ours], other[theirs]) or (self.same and one[ours] is None and other[theirs] is None)
            for ours, theirs in self.pairs
        )
        if not all(alike) or not all(band.holds(one | other) for band in self.bands):
            return False
        return self.residual is None or self.residual(one | other) is True

    def _once(self, held: Rows, arrived: Rows, met: Iterable[tuple[Row, Row]]) -> Iterable[Row]:
        """The rows of the first input that found their first partner now. Those that had one are not held."""
        found = {identity(one) for one, _ in met}
        return (row for row in held + arrived if identity(row) in found)

    def padded(self, i: int, row: Row) -> Row:
        return row if self.halves else row | Row.of(dict.fromkeys(self.columns[1 - i]))

    def pass_(self, state: State) -> Rows:
        return tuple(
            self.padded(i, row)
            for i in self.lonely
            for row in state[i].rows
            if self.closed(i, row, state) and not self._had(i, row, state)
        )

    def closed(self, i: int, row: Row, state: State) -> bool:
        """No partner can come any more."""
        partner = {pair[1 - i]: row[pair[i]] for pair in self.pairs}
        ends = {band.column: band.end(row) for band in self.bands if band.by in row}
        return covered(partner, ends, state[1 - i].punctuations)

    def _had(self, i: int, row: Row, state: State) -> bool:
        return identity(row) in map(identity, state[2 + i].rows)

    def keep(self, state: State) -> State:
        kept = []
        for i in (0, 1):
            rows = (row for row in state[i].rows if not self.closed(i, row, state))
            if i == 0 and self.halves:
                rows = (row for row in rows if not self._had(i, row, state))
            kept.append(Slice(tuple(rows), state[i].punctuations))
        had = (
            Slice(tuple(row for row in state[2 + i].rows if i in self.lonely and row in kept[i].rows))
            for i in (0, 1)
        )
        return (*kept, *had)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        due: set[Punctuation] = set()
        for i in (0,) if self.halves else (0, 1):
            free = set_nomatch_punctuations(kept[i].rows, kept[i].punctuations)
            theirs = set(self.lonely) - {i}
            due |= {p for p in free if not theirs or p != EVERYTHING}
            if not theirs and not self.halves:
                names = dict(pair if i == 0 else pair[::-1] for pair in self.pairs)
                due |= {renamed for p in free if (renamed := rename(p, names)) is not None}
        ended = all(EVERYTHING in held.punctuations and not held.rows for held in kept[:2])
        return frozenset(due | ({EVERYTHING} if ended else set()))
