"""The chained purge: whether a row may still find all its partners (THEORY: purging at run time).

A row t of S may go if, in one order X₁, X₂, … of the others, a punctuation of Xₖ covers every row of
t ⋈ X₁ ⋈ … ⋈ Xₖ₋₁, for every k. All inputs are judged against the states before the purge.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from caesura.operators.closed import Closed, covered, uncovered, uncovered_by_some
from caesura.operators.conditions import Condition, Conditions
from caesura.operators.rows import Rows, union


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
    alone: Mapping[str, Condition] = field(default_factory=dict)
    """The same by columns of the row that asks alone: it may be more."""

    @property
    def asks(self) -> frozenset[str]:
        """The columns of the rows joined so far that matter."""
        return frozenset(self.pins.values()).union(*(most.columns for most in self.most.values()))

    def confined(self, attributes: Collection[str]) -> Hop:
        """The same, by punctuations on these alone."""
        pins = {name: pin for name, pin in self.pins.items() if name in attributes}
        constants = {name: value for name, value in self.constants.items() if name in attributes}
        return replace(self, pins=pins, constants=constants)

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
class Purge:
    """The purge of one input of a join in one slice."""

    conditions: Conditions
    mine: int
    """The input."""
    compared: Sequence[str]
    """Its columns that tell which of its rows may stay. Another condition may ask for more of them, but rows that
    are alike in these may all stay."""
    finite: Mapping[int, Rows | None]
    """The inputs that never change."""
    rows: Mapping[int, Rows | None]
    """Of each other input: those held before the purge, and the slice's."""
    closed: Mapping[int, Closed]

    def awaited(self, rows: Rows, chain: Chain) -> Rows | None:
        """keep(S) = rows of S with, for some k, a row of S ⋈ X₁ ⋈ … ⋈ Xₖ₋₁ that no punctuation of Xₖ covers."""
        match chain:
            case ():
                return None  # every partner is finite and known: no future result needs a stored row
            case (hop,) if not self.finite:
                return uncovered(rows, self._said(hop))
            case _ if (said := self.by_time(chain)) is not None:
                return uncovered_by_some(rows, said)
            case _:
                return self._chained(rows, chain)

    def by_time(self, chain: Chain) -> tuple[Closed, ...] | None:
        """What each input of a chain has closed, if it is nothing but times, which can be asked of a row alone.

        Then a row waits until all times have passed it, and no partners are looked up. One whose partners are all
        older might go sooner, but streams that are joined by time are mostly in step.
        """
        said: list[Closed] = []
        for hop in chain:
            closed = self.closed[hop.input]
            times = replace(closed, spans={}, everything=False)
            if self.finite or times or not hop.alone.keys() >= closed.spans.keys() or len(closed.spans) > 1:
                return None
            said.append(replace(hop, pins={}, constants={}, most=hop.alone).translated(closed))
        return tuple(said)

    def _said(self, hop: Hop) -> Closed:
        return hop.translated(self.closed[hop.input])

    def _chained(self, rows: Rows, chain: Chain) -> Rows | None:
        parts = dict(self.finite)
        at_once: Rows | None = None
        left: Rows | None = rows
        later: list[Rows | None] = []
        for hop in chain:
            closed = self._said(hop)
            if not parts:  # the first hop looks at the rows alone; the later ones judge only what it covers
                at_once, left = uncovered(rows, closed), covered(rows, closed)
            else:
                later.append(self._open_with(parts, left, hop.asks, closed))
            parts[hop.input] = self.rows[hop.input]
        return union((at_once, self._in_any(later, left)))

    def _in_any(self, several: Sequence[Rows | None], rows: Rows | None) -> Rows | None:
        """Those of the rows that are also in one of several tables of some of them."""
        present = [each for each in several if each is not None]
        if len(present) <= 1 or rows is None:
            return union(present)
        found = union(each.only(self.compared) for each in present)
        return None if found is None else rows.alike(found.distinct(), self.compared)

    def _open_with(
        self, parts: Mapping[int, Rows | None], rows: Rows | None, asks: frozenset[str], closed: Closed
    ) -> Rows | None:
        """The rows with partners in all these parts, one of each, such that nothing closed covers what is asked of
        them together.

        That is asked first of the one table that has the columns. It leaves little, for which to look in the
        others is little work, however large they are.
        """
        askers = self.conditions.owners(asks) or {self.mine}
        if rows is None or any(part is None for part in parts.values()):
            return None
        if len(askers) > 1:
            asking = {**parts, self.mine: rows.only(self.compared)}
            found = uncovered(self.conditions.matches(asking, start=self.mine), closed)
            return None if found is None else rows.alike(found.only(self.compared).distinct(), self.compared)
        (asker,) = askers
        parts = {**parts, self.mine: rows}
        parts[asker] = uncovered(parts[asker], closed)
        staying, few = parts.pop(self.mine), asker == self.mine
        groups = self.conditions.groups(self.mine, parts.keys())
        for group in sorted(groups, key=lambda group: asker not in group):
            start = asker if asker in group else min(group)
            partners = self.conditions.matches({j: parts[j] for j in group}, start)
            if staying is None or partners is None:
                return None
            condition = self.conditions.between(self.mine, group)
            near = partners.matching_on(staying, condition) if few else partners
            staying, few = staying.matching_on(near, condition), True
        return staying
