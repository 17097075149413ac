"""What a tree of joins costs if it makes partial results on demand (THEORY section 11).

Of each input as much is kept as one join of all inputs keeps. A judge is the other children of a join on the way
to the root; it has so many partners for a row as its tables have rows together, over the values they are compared
by. Whether it has one is taken to be a matter of chance, and of twice the rows that are there at a time: those
that were there when a row came, and those that come while it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import expm1, prod

from caesura.plan import Tree
from caesura.planning.cost import Cost, CostModel
from caesura.planning.enumerate import Inputs, SubJoin
from caesura.safety.tree import largest_first, leaves


@dataclass(frozen=True)
class Table:
    """Rows joined of some inputs: how many there are at a time, and how many come per second."""

    inputs: Inputs
    rows: float
    rate: float


Judge = tuple[Table, ...]


@dataclass(frozen=True)
class Estimate:
    """`wanted`: of each input that is judged, the share of its rows that all judges want."""

    cost: Cost
    wanted: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Demand:
    """The estimates for one join and its trees."""

    model: CostModel

    def of(self, tree: Tree) -> Estimate:
        return _Walk(self).through(tree)

    @cached_property
    def sub(self) -> SubJoin:
        return self.model.trees.sub(self.model.trees.all)

    @cached_property
    def sources(self) -> dict[int, Table]:
        return {min(part): self.kept(part, self.model.rate(part)) for part in self.model.trees.single}

    def kept(self, inputs: Inputs, rate: float) -> Table:
        """Rows joined of some inputs, beside all the others as they are."""
        split = (inputs, *(part for part in self.model.trees.single if not part <= inputs))
        return Table(inputs, rate * self.model.wait(self.sub, split, inputs), rate)

    def partners(self, inputs: Inputs, tables: Sequence[Table], times: float = 1.0) -> float:
        """How many combinations of rows, one of each table, a row of these inputs has; of a finite table one."""
        endless = [each for each in tables if not each.inputs <= self.sub.static]
        sets = [inputs, *(each.inputs for each in endless)]
        apart = 1.0
        for number in range(len(self.sub.graph.classes)):
            having = sum(number in self._classes(each) for each in sets)
            apart *= self.model.open(self.sub, number) ** max(0, having - 1)
        return prod(times * each.rows for each in endless) / apart

    def look_ups(self, inputs: Inputs, tables: Sequence[Table]) -> float:
        """For one row, if it asks first where it has the fewest partners, of those that it is compared with."""
        total, rows, asked, left = 0.0, 1.0, list[Table](), list(tables)
        met = self._classes(inputs)
        while left:
            total += rows
            near = [table for table in left if not met.isdisjoint(self._classes(table.inputs))] or left
            nearest = min(near, key=lambda table: self.partners(inputs, (*asked, table)))
            rows, met = self.partners(inputs, (*asked, nearest)), met | self._classes(nearest.inputs)
            asked.append(nearest)
            left.remove(nearest)
        return total

    def _classes(self, inputs: Inputs) -> frozenset[int]:
        return frozenset().union(*(self.sub.classes[i] for i in inputs))

    def wanted(self, inputs: Inputs, judge: Judge) -> float:
        """The share of rows of these inputs for which a partner is there, or comes in time."""
        if all(each.inputs <= self.sub.static for each in judge):
            return 1.0
        return -expm1(-self.partners(inputs, judge, times=2.0))


@dataclass
class _Walk:
    """Through a tree, as a slice goes through it."""

    demand: Demand
    probes: float = 0.0
    intermediates: float = 0.0
    wanted: dict[int, float] = field(default_factory=dict)

    def through(self, tree: Tree) -> Estimate:
        self._take(tree, ())
        model, sources = self.demand.model, self.demand.sources
        state = tuple((i, each.rows) for i, each in sources.items() if i not in self.demand.sub.static)
        cost = model.of(model.trees.single)
        return Estimate(
            Cost(state, self.intermediates, cost.punctuations, self.probes), tuple(sorted(self.wanted.items()))
        )

    def _take(self, tree: Tree, judges: tuple[Judge, ...]) -> Table:
        if isinstance(tree, int):
            return self._active(tree, judges)
        children, taken = largest_first(tree), list[Table]()
        for number, child in enumerate(children):
            if isinstance(child, int):
                taken.append(self._take(child, judges))
                continue
            after = (i for other in children[number + 1 :] for i in leaves(other))
            judge = (*taken, *(self.demand.sources[i] for i in after))
            if len(judge) > 1:  # what is new to it is joined first
                self.probes += sum(self._asking(each, judge) for each in judge)
            taken.append(self._take(child, (judge, *judges)))
        return self._made(frozenset(leaves(tree)), taken, judges)

    def _active(self, i: int, judges: tuple[Judge, ...]) -> Table:
        source = self.demand.sources[i]
        share = self._judged(source.inputs, source.rate, judges)
        if judges and i not in self.demand.sub.static:
            self.wanted[i] = share
        return Table(source.inputs, source.rows * share, source.rate * share)

    def _made(self, inputs: Inputs, children: list[Table], judges: tuple[Judge, ...]) -> Table:
        formed = 0.0
        for child in children:
            others = [each for each in children if each is not child]
            self.probes += self._asking(self._meeting(child, others), children)
            formed += child.rate * self.demand.partners(child.inputs, others)
        share = self._judged(inputs, formed, judges)
        made = self.demand.kept(inputs, formed * share)
        if judges:
            self.intermediates += made.rows
        return made

    def _judged(self, inputs: Inputs, rate: float, judges: tuple[Judge, ...]) -> float:
        share = 1.0
        for judge in judges:
            self.probes += rate * share * self.demand.look_ups(inputs, judge)
            share *= self.demand.wanted(inputs, judge)
        return share

    def _meeting(self, one: Table, others: list[Table]) -> Table:
        """Of several others each is asked alone, before the rows are joined with any."""
        if len(others) < 2:
            return one
        self.probes += one.rate * len(others)
        shares = (min(1.0, self.demand.partners(one.inputs, (other,))) for other in others)
        return replace(one, rate=one.rate * prod(shares))

    def _asking(self, one: Table, tables: Sequence[Table]) -> float:
        """Look-ups per second of new rows of one table in the others."""
        others = [each for each in tables if each.inputs != one.inputs]
        return one.rate * self.demand.look_ups(one.inputs, others)
