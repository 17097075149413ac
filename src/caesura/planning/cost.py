"""What a tree of joins costs (THEORY section 13), in rows: kept, looked at, and punctuations remembered.

All of it is rates times times. A row waits in a join until every other input has closed what it was compared
with, hop by hop as in the chained purge. How long an input takes to close a value: one that punctuates values
closes so many per second, one for each row that it sends if nothing else is known, so that an open value is closed
after all the others that are open; one that is ordered by time closes it when the bound between the two has
passed, and its slack. Where an input does both the sooner wins, by PWJoin's estimate.

The estimates of a set of inputs, how many rows it gives and how late it passes punctuations on, are those of one
join of all of them. So they do not depend on the shape below, and the cost of a tree is the sum of its joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import expm1, inf, prod

from sqlglot import exp

from caesura.catalog import UNITS, Interval, OrderedBy, Stream
from caesura.expression import Expr
from caesura.plan import Compare, Join, Merge, Plan, Scan, Tree, inputs
from caesura.planning.enumerate import Inputs, SafeTrees, Split, SubJoin
from caesura.planning.statistics import DISTINCT, Statistics
from caesura.safety.bases import bases
from caesura.safety.bounds import Bound
from caesura.safety.join_graph import Offer
from caesura.safety.tree import leaves

SLICE = 1.0
"""Seconds that a slice is taken to last: no row of a join with another stream leaves sooner."""


def predicted_state(rate: float, window: float, closing: float, open: float) -> float:
    """Rows of B that a window join of A and B keeps: PWJoin's equation 1, each row counted from its own arrival.

    `rate`: rows of B per second. `window`: seconds that a row of B may stay for A's sake; while the streams are
    younger, their age. `closing`: values that A closes per second. `open`: values of B that A has not closed.

    A row that came t seconds ago is still there if its value is not among the `closing · t` values closed since.
    PWJoin takes those for an even sample of the values that B had. Here they are one at each moment, of the values
    that are open then: e^(−closing · t / open) of the rows are left. Over the window that gives

        rate · lifetime · (1 − e^(−window / lifetime))

    where `lifetime = open / closing`.
    """
    if not open or not window:
        return 0.0
    passed = window * closing / open
    if not passed:
        return rate * window
    return rate * window * -expm1(-passed) / passed


@dataclass(frozen=True)
class Cost:
    """Rows that are kept, punctuations that are remembered, and rows looked up per second.

    `state`: for each input of the join, by its position, the rows of it that wait. `intermediates`: rows of
    sub-joins that wait in the joins above them."""

    state: tuple[tuple[int, float], ...] = ()
    intermediates: float = 0.0
    punctuations: float = 0.0
    probes: float = 0.0

    @property
    def stored(self) -> float:
        return sum(rows for _, rows in self.state) + self.intermediates + self.punctuations

    @property
    def touched(self) -> float:
        """What a slice of one second looks at: all that is stored, and what its rows look up."""
        return self.stored + self.probes * SLICE

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            tuple(sorted((*self.state, *other.state))),
            self.intermediates + other.intermediates,
            self.punctuations + other.punctuations,
            self.probes + other.probes,
        )


@dataclass(frozen=True)
class CostModel:
    """The estimates for one join and its trees."""

    trees: SafeTrees
    statistics: Statistics

    def cost(self, tree: Tree) -> Cost:
        if isinstance(tree, int):
            return Cost()
        below = (self.cost(each) for each in tree)
        return sum(below, self.of(tuple(frozenset(leaves(each)) for each in tree)))

    def price(self, cost: Cost) -> float:
        """What is to be least: with rates that are made up, only what is stored."""
        return cost.stored if self.statistics.made_up else cost.touched

    def of(self, split: Split) -> Cost:
        """One join of the tree, without those below it."""
        sub = self.trees.sub(frozenset().union(*split))
        kept = {part: self.rate(part) * self.wait(sub, split, part) for part in split}
        return Cost(
            tuple((min(part), rows) for part, rows in kept.items() if len(part) == 1 and not part <= sub.static),
            sum(rows for part, rows in kept.items() if len(part) > 1),
            self._punctuations(sub, split),
            self._probes(sub, kept),
        )

    def at_least(self, split: Split) -> float:
        """A price that is quick to tell and not above that of the join: rows of streams stay for a slice."""
        rates = [rate for part in split if (rate := self.rate(part))]
        rows = sum(rates) * SLICE if len(rates) > 1 else 0.0
        return rows + self._punctuations(self.trees.sub(frozenset().union(*split)), split)

    # Rates

    def rate(self, part: Inputs) -> float:
        """Rows per second. In one join of all, each new row meets what is kept of the others."""
        if part not in self._rates:
            self._rates[part] = self._rate(part)
        return self._rates[part]

    @cached_property
    def _rates(self) -> dict[Inputs, float]:
        return {frozenset((i,)): self._rows(plan) for i, plan in enumerate(self.trees.join.inputs)}

    def _rate(self, part: Inputs) -> float:
        sub = self.trees.sub(part)
        streams = sorted(part - sub.static)
        rates = [self.rate(frozenset((i,))) for i in streams]
        waits = [self._delay(i, part) for i in streams]
        together = sum(prod(waits[:k] + waits[k + 1 :]) for k in range(len(streams)))
        shared = ([i for i in streams if number in sub.classes[i]] for number in range(len(sub.graph.classes)))
        apart = prod(self.open(sub, number) ** max(0, len(by) - 1) for number, by in enumerate(shared))
        return prod(rates) * together / apart if streams else 0.0

    def _rows(self, plan: Plan) -> float:
        """Rows per second of an input. Filters and groups are taken to pass on all that they read."""
        match plan:
            case Scan(relation=Stream(name=name)):
                return self.statistics.rate(name)
            case Scan():
                return 0.0
            case Join(kind="inner"):
                return CostModel(SafeTrees(plan), self.statistics).rate(frozenset(range(len(plan.inputs))))
            case Join() | Compare():
                return self._rows(plan.inputs[0])
            case Merge(inputs=several):
                return sum(map(self._rows, several))
            case _:
                return self._rows(*inputs(plan))

    # Values

    def open(self, sub: SubJoin, number: int) -> float:
        """How many values of a class of equal columns are open at a time."""
        if number in sub.graph.constants:
            return 1.0
        return self._distinct(sub.graph.classes[number].columns)

    def _distinct(self, columns: tuple[str, ...]) -> float:
        """The most that one of them has: of several together there may be more, of equal ones there are fewer."""
        if columns not in self._most:
            self._most[columns] = max((self._values[c] for c in columns if c in self._values), default=DISTINCT)
        return self._most[columns]

    @cached_property
    def _most(self) -> dict[tuple[str, ...], float]:
        return {}

    @cached_property
    def _values(self) -> dict[str, float]:
        """Open values of the columns that come from streams."""
        found: dict[str, float] = {}
        for plan in self.trees.join.inputs:
            for column in plan.columns:
                for stream, name in bases(plan, column.name, through_order=True):
                    number = self.statistics.distinct(stream.name, name)
                    found[column.name] = max(number, found.get(column.name, 0.0))
        return found

    # Times

    def wait(self, sub: SubJoin, split: Split, start: Inputs) -> float:
        """Seconds that a row of a part waits: the parts that close its values, each when those before it have."""
        missing = [part for part in split if part is not start and not part <= sub.static]
        if start <= sub.static or not missing:
            return 0.0
        known = dict.fromkeys(sub.known(i for part in split if part not in missing for i in part), 0.0)
        last = SLICE
        while missing:
            times = {part: self._closes(sub, part, known) for part in missing}
            first = min(missing, key=lambda part: times[part])
            last = max(last, times[first])
            known = {**dict.fromkeys((c for i in first for c in sub.classes[i]), times[first]), **known}
            missing.remove(first)
        return last

    def _closes(self, sub: SubJoin, part: Inputs, known: Mapping[int, float]) -> float:
        """Seconds until a part has closed what is known by then; never, if no scheme is pinned yet."""
        values, order = inf, inf
        for i in part:
            delay = self._delay(i, part)
            for offer in sub.offers[i]:
                if not offer.pinned(known):
                    continue
                if offer.scheme.ordered:
                    order = min(order, delay + self._passes(i, offer, known))
                else:
                    after = max((known[each] for each in offer.needs), default=0.0)
                    values = min(values, delay + after + self._turnover(i, offer))
        if inf in (values, order) or not values:
            return min(values, order)
        return predicted_state(1.0, order, closing=1 / values, open=1.0)

    def _turnover(self, i: int, offer: Offer) -> float:
        """Seconds until an open value is closed."""
        closing = self._closing(i, offer.scheme.attributes)
        return self._distinct(offer.scheme.attributes) / (
            self.rate(frozenset((i,))) if closing is None else closing
        )

    def _closing(self, i: int, columns: tuple[str, ...]) -> float | None:
        """Values that an input closes per second, if that is known: of one column, and of one stream."""
        plan = self.trees.join.inputs[i]
        match [origin for column in columns for origin in bases(plan, column, through_order=True)]:
            case [(stream, name)] if len(columns) == 1:
                return self.statistics.closes(stream.name, name)
            case _:
                return None

    def _passes(self, i: int, offer: Offer, known: Mapping[int, float]) -> float:
        """The bound that is passed first, and the slack."""
        origin = self.trees.derivation.origin(self.trees.join.inputs[i], offer.scheme)
        slacks = (each.promise.slack for each in origin.promised if isinstance(each.promise, OrderedBy))
        slack = max((each.microseconds / 1e6 for each in slacks if each is not None), default=0.0)
        bounds = (
            (0.0 if to is None else known[to]) + self._length(i, path)
            for to, path in offer.paths.items()
            if to is None or to in known
        )
        return slack + max(0.0, min(bounds))

    def _length(self, i: int, path: tuple[Bound, ...]) -> float:
        """Seconds; a number that is added to a column without a unit is so many rows."""
        total = 0.0
        for shift in (shift for bound in path for shift in bound.shifts):
            length = seconds(shift.amount)
            if length is None:
                length = _number(shift.amount) / self.rate(frozenset((i,)))
            total += length if shift.added else -length
        return total

    def _delay(self, i: int, part: Inputs) -> float:
        """How long a sub-join holds punctuations of an input back: until the rows that they match have left."""
        if len(part) == 1:
            return 0.0
        if (i, part) not in self._delays:
            single = tuple(frozenset((each,)) for each in sorted(part))
            start = next(each for each in single if i in each)
            self._delays[i, part] = self.wait(self.trees.sub(part), single, start)
        return self._delays[i, part]

    @cached_property
    def _delays(self) -> dict[tuple[int, Inputs], float]:
        return {}

    # Work

    def _punctuations(self, sub: SubJoin, split: Split) -> float:
        """One for each open value of a scheme that rows of other parts ask for; of an order there is one bound."""
        total = 0.0
        for part in split:
            asking = sub.known(i for other in split if other is not part for i in other)
            offers = [offer for i in part for offer in sub.offers[i] if offer.pinned(asking)]
            total += sum(1.0 if o.scheme.ordered else self._distinct(o.scheme.attributes) for o in offers)
        return total

    def _probes(self, sub: SubJoin, kept: Mapping[Inputs, float]) -> float:
        """Look-ups per second: each new row asks the other parts in turn, those with the fewest partners first."""
        classes = {part: frozenset().union(*(sub.classes[i] for i in part)) for part in kept}
        total = 0.0
        for start in kept:
            rows, met = self.rate(start), classes[start]
            left = [part for part in kept if part is not start]
            while left and rows:
                total += rows
                near = [part for part in left if not met.isdisjoint(classes[part])] or left
                partners = {part: self._partners(sub, part, kept[part], met & classes[part]) for part in near}
                nearest = min(near, key=partners.__getitem__)
                rows *= partners[nearest]
                met |= classes[nearest]
                left.remove(nearest)
        return total

    def _partners(self, sub: SubJoin, part: Inputs, rows: float, on: Iterable[int]) -> float:
        """Of the rows kept of a part, those that one row meets; of a table one."""
        return 1.0 if part <= sub.static else rows / prod(self.open(sub, number) for number in on)


def seconds(amount: Expr) -> float | None:
    """The length of an interval; None if it is something else."""
    match amount.tree:
        case exp.Interval(this=exp.Literal(this=number), args={"unit": exp.Var(this=unit)}):
            known = unit.upper().removesuffix("S") in UNITS
            return Interval(f"INTERVAL {number} {unit.upper()}").microseconds / 1e6 if known else None
        case _:
            return None


def _number(amount: Expr) -> float:
    match amount.tree:
        case exp.Literal(this=number, is_string=False):
            return float(number)
        case _:
            return 0.0
