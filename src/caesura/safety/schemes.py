"""THEORY section 3: the schemes of every plan node, derived from the promises of the base streams.

A scheme of a node is what the node's operator passes on at run time, so it is given in the node's own column
names, and equal columns are written out: each form of a scheme is a scheme of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from caesura.catalog import OrderedBy, Promise, Stream
from caesura.plan import Filter, Group, Join, Plan, Project, Scan, walk
from caesura.punctuation import Scheme
from caesura.safety.reach import JoinGraph, Reach, reach


@dataclass(frozen=True)
class Derived:
    """A scheme in the names of the node it belongs to, and the promise of a base stream it comes from.

    `below` is the same one step down, in the names of the node's input; None at the scan itself.
    """

    scheme: Scheme
    promise: Promise
    scan: Scan
    below: Derived | None = None


@dataclass(frozen=True)
class Derivation:
    """The schemes of every node of a plan and, for its joins, what decided which of them were kept.

    `reaches` has one entry per input of a join; None for a static input, whose rows simply stay.
    """

    schemes: Mapping[Plan, tuple[Derived, ...]]
    reaches: Mapping[Join, tuple[Reach | None, ...]]

    def origin(self, node: Plan, scheme: Scheme) -> Derived:
        return next(derived for derived in self.schemes[node] if derived.scheme == scheme)


def derive(plan: Plan) -> Derivation:
    """One pass, inputs before the nodes that read them: the check composes."""
    schemes: dict[Plan, tuple[Derived, ...]] = {}
    reaches: dict[Join, tuple[Reach | None, ...]] = {}
    for node in walk(plan):
        found: Iterable[Derived]
        match node:
            case Scan():
                found = _promised(node)
            case Filter(input=below):
                found = (replace(derived, below=derived) for derived in schemes[below])
            case Project(input=below):
                found = _renamed(schemes[below], _copies(node))
            case Group(input=below, keys=keys):
                found = _renamed(schemes[below], {key: (key,) for key in keys})
            case Join(inputs=below):
                graph = JoinGraph(node, tuple(tuple(d.scheme for d in schemes[each]) for each in below))
                reaches[node] = tuple(None if i in graph.static else reach(graph, i) for i in range(len(below)))
                purgeable = (
                    derived
                    for each, reached in zip(below, reaches[node], strict=True)
                    if reached is not None and reached.complete
                    for derived in schemes[each]
                )
                found = _renamed(purgeable, _equals(graph))
        schemes[node] = tuple(_once(found))
    return Derivation(schemes, reaches)


def _promised(scan: Scan) -> Iterator[Derived]:
    """Every promise is a scheme; a table is complete when it has been read and promises nothing."""
    if not isinstance(scan.relation, Stream):
        return
    for promise in scan.relation.promises:
        ordered = isinstance(promise, OrderedBy)
        columns = (promise.column,) if isinstance(promise, OrderedBy) else promise.columns
        yield Derived(Scheme(tuple(f"{scan.alias}.{c}" for c in columns), ordered), promise, scan)


def _copies(project: Project) -> dict[str, tuple[str, ...]]:
    """Input column → all the output columns that carry it unchanged."""
    copies: dict[str, tuple[str, ...]] = {}
    for output in project.outputs:
        if (column := output.expr.column) is not None:
            copies[column] = (*copies.get(column, ()), output.name)
    return copies


def _equals(graph: JoinGraph) -> dict[str, tuple[str, ...]]:
    """Column of the join → itself, then the columns it is interchangeable with."""
    return {
        column.name: tuple(dict.fromkeys((column.name, *graph.classes[graph.class_of[column.name]].columns)))
        if column.name in graph.class_of
        else (column.name,)
        for column in graph.join.columns
    }


def _renamed(found: Iterable[Derived], names: Mapping[str, tuple[str, ...]]) -> Iterator[Derived]:
    """Every form of each scheme under the new names; none if an attribute has no new name."""
    for derived in found:
        for form in product(*(names.get(a, ()) for a in derived.scheme.attributes)):
            if len(set(form)) == len(form):
                scheme = Scheme(form, derived.scheme.ordered)
                yield Derived(scheme, derived.promise, derived.scan, derived)


def _once(found: Iterable[Derived]) -> Iterator[Derived]:
    """The first of those that say the same."""
    seen: set[tuple[frozenset[str], bool]] = set()
    for derived in found:
        key = (frozenset(derived.scheme.attributes), derived.scheme.ordered)
        if key not in seen:
            seen.add(key)
            yield derived
