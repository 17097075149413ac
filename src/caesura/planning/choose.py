"""Which of the safe trees of each join is executed: the cheapest, and of equals the one with the fewest joins.

A join's tree depends on the join and the statistics alone, not on the query around it: a derived stream that
several queries read stays one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nsmallest
from itertools import islice, product, zip_longest
from math import ceil
from typing import Literal, TypeAlias

from caesura.plan import Join, Pipeline, Plan, Query, Tree, walk
from caesura.planning.cost import Cost, CostModel
from caesura.planning.demand import Demand
from caesura.planning.enumerate import EXHAUSTIVE, LEFT_DEEP, Inputs, SafeTrees, Split, Trees
from caesura.planning.statistics import UNKNOWN, Statistics
from caesura.planning.through import Gate, Unheard, added, gated, gates, unheard
from caesura.safety.redundant import without_redundant
from caesura.safety.schemes import derive
from caesura.safety.states import open_proofs, summed
from caesura.safety.tree import Arrangement, asked, flat, ordered, rearranged, shaped
from caesura.types import Type

RUNNERS_UP = 3
OVERHEAD = 2.0
"""A slice on demand takes about twice the jobs of one without, which costs of rows do not show (decision 18)."""
TREES = 300
"""About so many are looked at with demand: the estimates of one do not add up from those of its parts."""
SUBTREES = 10
"""Of each of its parts."""

Arrangements: TypeAlias = tuple[tuple[Arrangement | None, ...], ...]
"""For each query, how its joins of three or more inputs are executed, inputs first; None: as they are."""
Gates: TypeAlias = tuple[tuple[Gate, ...], ...]
"""For each query, where it lets demand through."""


@dataclass(frozen=True)
class Candidate:
    """`price` is what was compared: a part of the cost, or all of it. `wanted`: with demand, of each input that
    waits to be wanted, the share of its rows that is."""

    how: Arrangement
    cost: Cost
    price: float
    wanted: tuple[tuple[int, float], ...] = ()

    def rank(self) -> tuple[float, int, str]:
        """Prices are sums of estimates, in whatever order: what differs in the tenth digit is equal."""
        return float(f"{self.price:.9g}"), _joins(self.how.tree) + self.how.demand, str(self.how.tree)


@dataclass(frozen=True)
class Choice:
    """The cheapest tree of a join and the next ones; `because`: why there was nothing to choose from.

    No tree is chosen for a join where a state of it, or some state below, is not bounded, or a synopsis.
    """

    join: Join
    chosen: Candidate | None
    runners_up: tuple[Candidate, ...] = ()
    least: Literal["stored", "touched"] = "stored"
    because: str | None = None

    @property
    def how(self) -> Arrangement | None:
        """None if the join stays as it is. The shape that a hint asks for is followed in any case; but what cannot
        wait is one join, as it was judged with demand."""
        if self.chosen is None:
            hint = asked(self.join)
            return Arrangement(flat(self.join)) if hint is not None and hint.demand else hint
        return None if self.chosen.how == Arrangement(flat(self.join)) else self.chosen.how


@dataclass(frozen=True)
class Planned:
    """A query's plan as it is executed, and what was chosen for its joins of three or more inputs. `query` has the
    plan before that, but with the gates that let demand through: the semi joins `waiting`."""

    query: Query
    plan: Plan
    choices: tuple[Choice, ...]
    waiting: tuple[Join, ...] = ()
    unheard: tuple[Unheard, ...] = ()

    @cached_property
    def cost(self) -> Cost:
        """Of the joins that something was chosen for; their inputs are not told apart."""
        chosen = (choice.chosen.cost for choice in self.choices if choice.chosen is not None)
        return sum(chosen, Cost())


def planned(query: Query, measured: Statistics = UNKNOWN, beside: Iterable[Query] = ()) -> Planned:
    """`measured` is what an earlier run has found; it goes before what is declared. `beside`: what else runs."""
    beside = tuple(beside)
    several = gates(query, measured, beside)
    asked = gated(query, several)
    choices = tuple(choose(join, measured) for join in _wide(asked.plan))
    plan = _executed(asked.plan, (choice.how for choice in choices))
    waiting = added(query.plan, asked.plan)
    return Planned(asked, plan, choices, waiting, unheard(query, several, measured, beside))


def demanded(pipeline: Pipeline, measured: Statistics = UNKNOWN) -> Gates:
    """Where a pipeline lets demand through, if it starts now."""
    queries = pipeline.queries
    return tuple(gates(query, measured, (each for each in queries if each is not query)) for query in queries)


def let_through(pipeline: Pipeline, several: Gates) -> Pipeline:
    """The pipeline with these gates; then its joins are arranged."""
    return replace(pipeline, queries=tuple(map(gated, pipeline.queries, several)))


def chosen(pipeline: Pipeline, measured: Statistics = UNKNOWN) -> Arrangements:
    """What a pipeline is executed as, if it starts now."""
    return tuple(tuple(choose(join, measured).how for join in _wide(query.plan)) for query in pipeline.queries)


def executed(pipeline: Pipeline, arrangements: Arrangements) -> Pipeline:
    """The pipeline as it was arranged, now or when it was first started. Its joins know what they need to keep."""
    several = zip(pipeline.queries, arrangements, strict=True)
    plans = ((query, summed(without_redundant(_executed(query.plan, of_query)))) for query, of_query in several)
    return replace(pipeline, queries=tuple(replace(query, plan=plan) for query, plan in plans))


def _executed(plan: Plan, arrangements: Iterable[Arrangement | None]) -> Plan:
    return rearranged(plan, dict(zip(_wide(plan), arrangements, strict=True)).get)


def _wide(plan: Plan) -> list[Join]:
    return [node for node in walk(plan) if isinstance(node, Join) and len(node.inputs) > 2]


def choose(join: Join, measured: Statistics = UNKNOWN) -> Choice:
    trees, statistics = SafeTrees(join), measured.of(join)
    if not all_leave(shaped(join)):
        return Choice(join, None, because="some rows of it never leave")
    if join.demand is True and (unlike := _incomparable(join)) is not None:
        return Choice(join, None, because=f"rows with {unlike} cannot be compared, and so not wait")
    model = CostModel(trees, statistics)
    found: list[Candidate] = []
    if join.demand is not True:
        best = [ordered(join.shape)] if join.shape is not None else _best(model)
        found += (Candidate(Arrangement(tree), c, model.price(c)) for tree in best for c in (model.cost(tree),))
    if _may_wait(join, statistics):
        found += _on_demand(model, join)
    first, *others = sorted(found, key=Candidate.rank)
    least: Literal["stored", "touched"] = "stored" if statistics.made_up else "touched"
    return Choice(join, first, _compared(others), least, None if others else _alone(join))


def _may_wait(join: Join, statistics: Statistics) -> bool:
    """Whether partial results on demand are to be thought of: not by rates that are made up, unless asked for."""
    return join.demand is True or (join.demand is None and not statistics.made_up and _incomparable(join) is None)


def _incomparable(join: Join) -> Type | None:
    """A type of which Spark cannot tell whether two values are the same."""
    types = (each.type for each in join.columns)
    return next((each for each in types if "MAP<" in each.sql or each.kind == "VARIANT"), None)


def _on_demand(model: CostModel, join: Join) -> list[Candidate]:
    demand = Demand(model)
    trees = [ordered(join.shape)] if join.shape is not None else _to_look_at(model, join)
    estimates = ((tree, demand.of(tree)) for tree in trees)
    candidates = (
        Candidate(Arrangement(tree, demand=True), each.cost, OVERHEAD * model.price(each.cost), each.wanted)
        for tree, each in estimates
    )
    return nsmallest(RUNNERS_UP + 1, candidates, key=Candidate.rank)


def _to_look_at(model: CostModel, join: Join) -> list[Tree]:
    """The best without demand, and of all others, safe without it or not, some for each way to split the join."""
    every = Trees(join)
    splits = every.splits.get(every.all, (every.single,))
    some = splits[:: ceil(len(splits) / TREES)]
    several = [product(*(list(islice(every.trees(part), SUBTREES)) for part in split)) for split in some]
    in_turn = (tree for turn in zip_longest(*several) for tree in turn if tree is not None)
    return list(dict.fromkeys((*_best(model), *islice(in_turn, TREES))))


def _compared(others: list[Candidate]) -> tuple[Candidate, ...]:
    """The next best, and the best of those that are one join, a tree, and a tree with demand."""
    kinds: dict[tuple[bool, bool], Candidate] = {}
    for each in others:
        kinds.setdefault((_joins(each.how.tree) > 1, each.how.demand), each)
    return tuple(each for number, each in enumerate(others) if number < RUNNERS_UP or each in kinds.values())


def _joins(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + sum(map(_joins, tree))


def all_leave(plan: Plan) -> bool:
    """Whether no state is open, and none is bounded by a synopsis, which is made for the join as it stands."""
    derivation = derive(plan)
    reaches = (reach for several in derivation.reaches.values() for reach in several if reach is not None)
    return all(reach.complete for reach in reaches) and next(open_proofs(plan, derivation), None) is None


def _alone(join: Join) -> str:
    if join.shape is not None:
        return "a hint asks for it"
    if len(join.inputs) > LEFT_DEEP:
        return f"trees are looked for up to {LEFT_DEEP} inputs"
    if len(join.inputs) > EXHAUSTIVE:
        return f"it is safe, and no left-deep tree was found; beyond {EXHAUSTIVE} inputs no others are looked for"
    return "no other tree is safe"


def _best(model: CostModel) -> list[Tree]:
    """The cheapest trees. Those of a set are made of the cheapest of its parts, since costs are added up."""
    found: dict[Inputs, list[_Priced]] = {part: [_Priced(0.0, 0, min(part))] for part in model.trees.single}
    for inputs, splits in model.trees.splits.items():
        least = {split: model.at_least(split) + sum(found[part][0].price for part in split) for split in splits}
        several: list[_Priced] = []
        for split in sorted(splits, key=least.__getitem__):
            if len(several) > RUNNERS_UP and least[split] >= several[-1].price:
                break
            several = nsmallest(RUNNERS_UP + 1, (*several, *_made(model, split, found)), key=_Priced.rank)
        found[inputs] = several
    best = found[model.trees.all]
    if EXHAUSTIVE < len(model.trees.all) <= LEFT_DEEP:
        best = sorted((*best, *_left_deep(model)), key=_Priced.rank)
    return [each.tree for each in best]


@dataclass(frozen=True)
class _Priced:
    price: float
    joins: int
    tree: Tree

    def rank(self) -> tuple[float, int, str]:
        """Prices are sums of estimates, in whatever order: what differs in the tenth digit is equal."""
        return float(f"{self.price:.9g}"), self.joins, str(self.tree)


def _made(model: CostModel, split: Split, found: dict[Inputs, list[_Priced]]) -> Iterator[_Priced]:
    price = model.price(model.of(split))
    for below in product(*(found[part] for part in split)):
        yield _over(price, below)


def _over(price: float, below: Iterable[_Priced]) -> _Priced:
    several = tuple(below)
    prices, joins = sum(each.price for each in several), sum(each.joins for each in several)
    return _Priced(price + prices, 1 + joins, tuple(each.tree for each in several))


def _left_deep(model: CostModel) -> Iterator[_Priced]:
    """One input after another, each time the one that is cheapest to add; nothing, if none can be added safely."""
    trees = model.trees
    done: dict[Inputs, _Priced] = {part: _Priced(0.0, 0, min(part)) for part in trees.single}
    while trees.all not in done:
        grown = {
            part | single: _over(model.price(model.of(split)), (tree, _Priced(0.0, 0, min(single))))
            for part, tree in done.items()
            for single in trees.single
            if part.isdisjoint(single) and trees.related(part | single) and trees.safe(split := (part, single))
        }
        if not grown:
            return
        cheapest = min(grown, key=lambda inputs: grown[inputs].rank())
        done = {cheapest: grown[cheapest]}
    yield done[trees.all]
