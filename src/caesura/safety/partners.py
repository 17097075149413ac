"""THEORY section 7: the punctuations of a join's inputs that go when its other inputs have punctuated the same.

Only rows of inputs with a column that is equal to one of p's ask for p of X: they are X's partners. p may go once
each of them has closed those values of p that it shares, and has no row left with them: nobody will ask again. X
must have no row left with them either: then its partners need not remember the same values for X, and all forget
them in the same slice. Otherwise one would wait for ever for what another has forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from caesura.catalog import CompleteBy, OrderedBy, Stream
from caesura.plan import Plan, Scan, inputs, walk
from caesura.safety.join_graph import JoinGraph


@dataclass(frozen=True)
class Partners:
    """Inputs of an inner join that all close values of these classes of equal columns."""

    classes: frozenset[int]
    inputs: tuple[int, ...]
    """Every input with a column in one of the classes."""
    forgetting: Mapping[int, tuple[str, ...]]
    """Those that punctuate exactly these classes, and do not coalesce → the columns that they punctuate."""


def read_once(roots: Iterable[Plan]) -> frozenset[str]:
    """The streams that are read in one place of all that runs: nobody else has to know what they have closed."""
    plans = tuple(roots)
    nodes = dict.fromkeys(node for root in plans for node in walk(root))
    read = (*plans, *(below for node in nodes for below in inputs(node)))
    readers = Counter(each.relation.name for each in read if isinstance(each, Scan))
    return frozenset(name for name, count in readers.items() if count == 1)


def partners(graph: JoinGraph, once: frozenset[str]) -> Iterator[Partners]:
    """Where punctuations are forgotten: between streams that the join reads as they are, and nobody else does."""
    if graph.join.kind != "inner":
        return
    closing = [_closing(graph, i, once) for i in graph.inputs]
    spoken = (classes for several in closing for classes in several.values())
    for classes in dict.fromkeys(each for each in spoken if each.isdisjoint(graph.constants)):
        concerned = sorted({i for each in classes for i in graph.inputs_of[each]})
        if len(concerned) > 1 and all(any(each <= classes for each in closing[i].values()) for i in concerned):
            forgetting = {
                i: columns
                for i in concerned
                for columns, mine in closing[i].items()
                if mine == classes and _forgets(graph, i, columns)
            }
            if forgetting:
                yield Partners(classes, tuple(concerned), forgetting)


def _closing(graph: JoinGraph, i: int, once: frozenset[str]) -> dict[tuple[str, ...], frozenset[int]]:
    """The columns that an input punctuates, with their classes, if it is a stream that the join alone reads and
    whose values stay closed."""
    match graph.join.inputs[i]:
        case Scan(relation=Stream(name=name, promises=promises)) if name in once:
            lasting = all(each.lifespan is None for each in promises)
        case _:
            lasting = False
    classes = {scheme.attributes: graph.classes_of(scheme) for scheme in graph.schemes[i] if lasting}
    return {columns: mine for columns, mine in classes.items() if mine is not None}


def _forgets(graph: JoinGraph, i: int, columns: tuple[str, ...]) -> bool:
    """Whether an input holds one constant for each value that it closes, and closes each once: what came again
    after it was forgotten would stay."""
    scan = graph.join.inputs[i]
    assert isinstance(scan, Scan)
    assert isinstance(scan.relation, Stream)
    promises = [each for each in scan.relation.promises if not isinstance(each, OrderedBy)]
    if coalescing(scan, columns) or any(isinstance(each, CompleteBy) for each in promises):
        return False  # COMPLETE BY has to know the parts that are closed
    mine = {graph.class_of[name] for name in columns}
    spoken = [{graph.class_of.get(f"{scan.alias}.{name}") for name in each.columns} for each in promises]
    contained = [each for each in spoken if each <= mine or each >= mine]
    return len(mine) == len(columns) and len(contained) == 1


def coalescing(plan: Plan, columns: tuple[str, ...]) -> bool:
    """Whether closed values of these columns are neighbours, which grow together into ranges."""
    types = {column.name: column.type for column in plan.columns}
    return len(columns) == 1 and types[columns[0]].enumerable
