"""Identify_MNS (figure 8): which smallest parts of a row keep it from having a partner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import TypeAlias, TypeVar

C = TypeVar("C", bound=Hashable)
T = TypeVar("T")
Lattice: TypeAlias = Sequence[Sequence[frozenset[C]]]  # by level, from level 1


def identify_mns(
    components: Sequence[C], opposite: Iterable[T], matches: Callable[[C, T], bool]
) -> frozenset[frozenset[C]]:
    """The minimal sets of components that no row of the opposite state matches as a whole.

    As printed, line 14 of the figure reports dead nodes too; the text and we report those that are alive.
    """
    rows = tuple(opposite)
    if not rows:
        return frozenset({frozenset()})
    lattice = [list(map(frozenset, combinations(components, k + 1))) for k in range(len(components))]
    alive = {node for level in lattice for node in level}
    for row in rows:
        alive -= _matched(lattice, {each for each in components if matches(each, row)})
    return frozenset(_minimal(lattice, alive))


def _matched(lattice: Lattice[C], level_one: set[C]) -> set[frozenset[C]]:
    """A node above level 1 is matched iff all its children are."""
    found: set[frozenset[C]] = set()
    for level in lattice:
        found |= {node for node in level if (node <= level_one if len(node) == 1 else _children(node) <= found)}
    return found


def _minimal(lattice: Lattice[C], alive: set[frozenset[C]]) -> set[frozenset[C]]:
    mns: set[frozenset[C]] = set()
    non_minimal: set[frozenset[C]] = set()
    for level in lattice:
        for node in level:
            if _children(node) & (mns | non_minimal):
                non_minimal.add(node)
            elif node in alive:
                mns.add(node)
    return mns


def _children(node: frozenset[C]) -> set[frozenset[C]]:
    return {node - {each} for each in node}
