"""The safe trees of a join, and no others (Li et al., section 5.2; THEORY section 5).

A tree is safe iff every stream that enters one of its joins is purgeable there. What a sub-join offers to the
join above depends on its inputs and not on its shape: all of them are purgeable, or it would not be safe, so
that all their schemes are passed on (THEORY section 3); which columns are equal or bounded in its rows follows
from the conditions among its inputs (`safety.tree`); and all columns are kept. So whether one join of the tree
is safe is a question about the sets of inputs it takes together, a `Split`, and dynamic programming over sets of
inputs finds all trees: `tests/property/test_trees.py` holds it against every tree there is.

There are no cross products, unless the query is one: then its parts are joined last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TypeAlias

from caesura.expression import columns_of
from caesura.plan import Join, Tree
from caesura.safety.join_graph import JoinGraph, Offer
from caesura.safety.predicates import conditions
from caesura.safety.schemes import Derivation, derive
from caesura.safety.tree import Part, joined

EXHAUSTIVE = 8
"""Of joins with at most so many inputs all safe trees are found: eight have up to 660,032."""
LEFT_DEEP = 20
"""Up to so many, one left-deep tree is looked for besides the single join; beyond, there is the single join."""

Inputs: TypeAlias = frozenset[int]
Split: TypeAlias = tuple[Inputs, ...]
"""The sets of inputs that one join takes together, in the order of their first inputs."""


@dataclass(frozen=True)
class SubJoin:
    """Some inputs of a join, and all that is known of rows joined from them. Inputs go by their position in the
    whole join."""

    inputs: Inputs
    graph: JoinGraph

    @cached_property
    def classes(self) -> Mapping[int, frozenset[int]]:
        """Input → the classes that it has a column in."""
        return dict(zip(sorted(self.inputs), map(frozenset, self.graph.members), strict=True))

    @cached_property
    def static(self) -> Inputs:
        order = sorted(self.inputs)
        return frozenset(order[i] for i in self.graph.static)

    @cached_property
    def offers(self) -> Mapping[int, tuple[Offer, ...]]:
        """Input → its schemes that could be pinned."""
        return {
            i: tuple(offer for offer in self.graph.offers if offer.input == number)
            for number, i in enumerate(sorted(self.inputs))
        }

    def known(self, inputs: Iterable[int]) -> set[int]:
        """The classes with a value that is known in rows of these inputs."""
        return set(self.graph.constants).union(*(self.classes[i] for i in inputs))

    def safe(self, split: Split) -> bool:
        """Whether the streams among the parts are all purgeable, if one join takes the parts together."""
        return all(self._reaches_all(part, split) for part in split if not part <= self.static)

    def _reaches_all(self, start: Inputs, split: Split) -> bool:
        """Steps 3 and 4 of THEORY section 4, with parts in the place of inputs."""
        missing = [part for part in split if part is not start and not part <= self.static]
        known = self.known(i for part in split if part not in missing for i in part)
        while missing:
            reached = [part for part in missing if any(self._pinned(i, known) for i in part)]
            if not reached:
                return False
            known.update(*(self.classes[i] for part in reached for i in part))
            missing = [part for part in missing if part not in reached]
        return True

    def _pinned(self, i: int, known: Collection[int]) -> bool:
        return any(offer.pinned(known) for offer in self.offers[i])


@dataclass(frozen=True)
class SafeTrees:
    """The safe trees of an inner join."""

    join: Join

    @cached_property
    def derivation(self) -> Derivation:
        return derive(self.join)

    @cached_property
    def all(self) -> Inputs:
        return frozenset(range(len(self.join.inputs)))

    @cached_property
    def _known(self) -> dict[Inputs, SubJoin]:
        return {}

    def sub(self, inputs: Inputs) -> SubJoin:
        """Each is looked at once."""
        if inputs not in self._known:
            order = sorted(inputs)
            plans = [Part(frozenset((i,)), self.join.inputs[i]) for i in order]
            schemes = tuple(self.derivation.of(self.join.inputs[i]) for i in order)
            self._known[inputs] = SubJoin(inputs, JoinGraph(joined(self.join, plans), schemes))
        return self._known[inputs]

    def safe(self, split: Split) -> bool:
        return self.sub(frozenset().union(*split)).safe(split)

    @cached_property
    def single(self) -> Split:
        """All inputs in one join."""
        return tuple(frozenset((i,)) for i in sorted(self.all))

    @cached_property
    def splits(self) -> Mapping[Inputs, tuple[Split, ...]]:
        """The sets of inputs that have a safe tree, smaller ones first, and the splits at the top of their
        trees."""
        if len(self.all) <= EXHAUSTIVE:
            return self._all_splits()
        return {self.all: (self.single,)} if self.safe(self.single) else {}

    def _all_splits(self) -> dict[Inputs, tuple[Split, ...]]:
        found: dict[Inputs, tuple[Split, ...]] = {}
        blocks = {min(block): [block] for block in self.single}
        for size in range(2, len(self.all) + 1):
            for inputs in map(frozenset, combinations(sorted(self.all), size)):
                if self.related(inputs):
                    splits = tuple(each for each in _partitions(inputs, blocks) if self.safe(each))
                    if splits:
                        found[inputs] = splits
            for inputs in found:
                if len(inputs) == size:
                    blocks[min(inputs)].append(inputs)
        return found

    def related(self, inputs: Inputs) -> bool:
        """Whether conditions connect these inputs, or whole parts of a query that is a cross product."""
        return len(_components(inputs, self._conditions)) == 1 or all(
            part <= inputs or part.isdisjoint(inputs) for part in self._parts
        )

    @cached_property
    def _parts(self) -> list[Inputs]:
        return _components(self.all, self._conditions)

    @cached_property
    def _conditions(self) -> frozenset[Inputs]:
        """The inputs that some condition compares; where columns are equal, any two that have one."""
        owner, graph = self.join.owner, self.derivation.graphs[self.join]
        alike = (pair for several in graph.inputs_of.values() for pair in combinations(several, 2))
        named = map(columns_of, conditions(self.join))
        stated = ((owner(e.left), owner(e.right)) for e in self.join.equalities)
        return frozenset(map(frozenset, (*alike, *stated, *(map(owner, names) for names in named))))

    def trees(self, inputs: Inputs | None = None) -> Iterator[Tree]:
        """All of them: of many inputs there are very many."""
        inputs = self.all if inputs is None else inputs
        if len(inputs) == 1:
            yield min(inputs)
        for split in self.splits.get(inputs, ()):
            yield from product(*(list(self.trees(part)) for part in split))


@dataclass(frozen=True)
class Trees(SafeTrees):
    """All of them: with demand each is as safe as the single join."""

    def safe(self, split: Split) -> bool:
        return True


def _components(inputs: Inputs, conditions: Iterable[Inputs]) -> list[Inputs]:
    """What conditions among these inputs connect."""
    found = [frozenset((i,)) for i in sorted(inputs)]
    for each in conditions:
        if each <= inputs:
            met = [part for part in found if not part.isdisjoint(each)]
            found = [part for part in found if part not in met]
            found += [frozenset().union(*met)] if met else []
    return found


def _partitions(inputs: Inputs, blocks: Mapping[int, Collection[Inputs]]) -> Iterator[Split]:
    """The ways to make a set of these blocks, which are given by their first input."""
    if not inputs:
        yield ()
        return
    for block in blocks[min(inputs)]:
        if block <= inputs:
            yield from ((block, *rest) for rest in _partitions(inputs - block, blocks))
