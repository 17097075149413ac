"""THEORY section 3: the schemes of every plan node, derived from the promises of the base streams.

A scheme of a node is what the node's operator passes on at run time, so it is given in the node's own column
names, and equal columns are written out: each form of a scheme is a scheme of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

from caesura.catalog import CompleteBy, OrderedBy, Promise, Stream
from caesura.plan import (
    SESSION_END,
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    endless,
    inputs,
    types_of,
    walk,
)
from caesura.punctuation import Scheme
from caesura.safety.bounds import joined_on
from caesura.safety.components import reaches
from caesura.safety.equality import equality_classes
from caesura.safety.join_graph import JoinGraph
from caesura.safety.monotone import rising
from caesura.safety.passing import passing
from caesura.safety.reach import Reach

_FORMS = 256
"""A scheme of several attributes, each with many equal ones, is written out in so many ways."""


@dataclass(frozen=True)
class Promised:
    """A promise of a base stream."""

    scan: Scan
    promise: Promise


@dataclass(frozen=True)
class Derived:
    """A scheme in the names of the node it belongs to, and the promises it comes from."""

    scheme: Scheme
    promised: tuple[Promised, ...]


@dataclass(frozen=True)
class Derivation:
    """The schemes of every node of a plan and, for its joins, what decided which of them were kept.

    `reaches` has one entry per input of a join; None for a static input, whose rows simply stay.
    """

    schemes: Mapping[Plan, tuple[Derived, ...]]
    graphs: Mapping[Join, JoinGraph]
    reaches: Mapping[Join, tuple[Reach | None, ...]]

    def of(self, node: Plan) -> tuple[Scheme, ...]:
        return tuple(derived.scheme for derived in self.schemes[node])

    def origin(self, node: Plan, scheme: Scheme) -> Derived:
        return self._origins[node][scheme]

    @cached_property
    def _origins(self) -> dict[Plan, dict[Scheme, Derived]]:
        return {node: {each.scheme: each for each in several} for node, several in self.schemes.items()}


def derive(plan: Plan) -> Derivation:
    """One pass, inputs before the nodes that read them: the check composes."""
    schemes: dict[Plan, tuple[Derived, ...]] = {}
    graphs: dict[Join, JoinGraph] = {}
    reached: dict[Join, tuple[Reach | None, ...]] = {}
    asked = _asked(plan)
    for node in walk(plan):
        found: Iterable[Derived]
        match node:
            case Scan():
                found = _promised(node)
            case Filter(input=below) | Distinct(input=below) | Sort(input=below):
                found = schemes[below]
            case Project(input=below):
                found = (*_renamed(schemes[below], node.copies), *_computed(node, schemes[below]))
            case Group(input=below, keys=keys):
                found = _renamed(schemes[below], {key: (key,) for key in keys})
            case Rank(input=below) | Frame(input=below):
                found = _over(node, schemes[below])
            case Session(input=below):
                found = _of_sessions(node, schemes[below])
            case Merge(inputs=several) | Compare(inputs=several):
                found = _combined([schemes[each] for each in several if endless(each)])
            case Join(inputs=several):
                graph = JoinGraph(node, tuple(tuple(d.scheme for d in schemes[each]) for each in several))
                graphs[node], reached[node] = graph, reaches(graph)
                found = _joined(graph, reached[node], [schemes[each] for each in several], asked[node])
        schemes[node] = tuple(_once(found))
    return Derivation(schemes, graphs, reached)


def _asked(plan: Plan) -> dict[Plan, frozenset[str]]:
    """The columns of each node on which somebody above could use a punctuation. Equal columns are many in a long
    join, and few of them are ever asked for."""
    nodes = tuple(walk(plan))
    asked = dict.fromkeys(nodes, frozenset[str]())
    asked[plan] = frozenset(column.name for column in plan.columns)
    for node in reversed(nodes):
        asks = _asks(node, asked[node])
        for below in inputs(node):
            asked[below] |= {column.name for column in below.columns if column.name in asks}
    return asked


def _asks(node: Plan, above: frozenset[str]) -> frozenset[str]:
    match node:
        case Project(outputs=outputs):
            return frozenset(name for output in outputs for name in output.expr.columns)
        case Group(keys=keys):
            return frozenset(keys)
        case Session(time=time, keys=keys):
            return frozenset((time, *keys))
        case Join():
            return above | joined_on(node)
        case Distinct() | Compare() | Merge():
            return frozenset(column.name for column in node.columns)
        case Sort(keys=keys):
            return above | {key.column for key in keys}
        case Rank(partition=partition, order=order) | Frame(partition=partition, order=order):
            return frozenset((*partition, order[0].column))
        case Filter() | Scan():
            return above


def _promised(scan: Scan) -> Iterator[Derived]:
    """Every promise is a scheme; a table is complete when it has been read and promises nothing."""
    if not isinstance(scan.relation, Stream):
        return
    for promise in scan.relation.promises:
        if isinstance(promise, CompleteBy) and not _completed(promise, scan.relation):
            continue
        attributes = tuple(f"{scan.alias}.{column}" for column in promise.columns)
        yield Derived(Scheme(attributes, isinstance(promise, OrderedBy)), (Promised(scan, promise),))


def _completed(promise: CompleteBy, stream: Stream) -> bool:
    """Whether the parts that have to be complete are ever closed by another promise."""
    parts = {*promise.columns, *promise.per}
    others = (each for each in stream.promises if not isinstance(each, CompleteBy | OrderedBy))
    return any(parts.issuperset(each.columns) for each in others)


def _computed(project: Project, found: Iterable[Derived]) -> Iterator[Derived]:
    """An ordered attribute survives an expression that keeps its order. Where some values keep none there is no
    bound, but each of the others is closed some day."""
    types = types_of(project.input)
    survive: dict[str, list[Scheme]] = {}
    for output in project.outputs:
        if output.expr.column is None and (carried := rising(output.expr.tree, types)) is not None:
            scheme = Scheme((output.name,), ordered=carried.least is None)
            survive.setdefault(carried.column, []).append(scheme)
    for derived in found:
        if derived.scheme.ordered:
            for scheme in survive.get(derived.scheme.attributes[0], ()):
                yield replace(derived, scheme=scheme)


def _over(node: Rank | Frame, found: tuple[Derived, ...]) -> Iterator[Derived]:
    """What closes whole partitions, and the bound by which rows go before."""
    bound = passing(node, [derived.scheme for derived in found])
    partition = set(node.partition)
    return (each for each in found if each.scheme == bound or partition.issuperset(each.scheme.attributes))


def _of_sessions(session: Session, found: Iterable[Derived]) -> Iterator[Derived]:
    """What closes whole keys. And a session that is still open ends after all times that are closed: its end rises
    with them. Its start does not, since it may stay open for long."""
    several = tuple(found)
    yield from _renamed(several, {key: (key,) for key in session.keys})
    ordered = (each for each in several if each.scheme.ordered)
    yield from _renamed(ordered, {session.time: (SESSION_END,)})


def _joined(
    graph: JoinGraph,
    reached: tuple[Reach | None, ...],
    schemes: list[tuple[Derived, ...]],
    asked: Collection[str],
) -> Iterator[Derived]:
    """Every scheme of an input whose state is purgeable, in the names of all columns that are equal.

    A lonely row has NULLs in the place of its partner, which nothing matches, and no partner's punctuation ends
    it: so a scheme keeps the names of its own input, unless only that input's lonely rows come out.
    """
    join = graph.join
    visible = {column.name for column in join.columns}
    met: dict[int, list[str]] = {}
    for name in sorted(visible.intersection(asked, graph.class_of)):
        met.setdefault(graph.class_of[name], []).append(name)
    for i, reach in enumerate(reached):
        if reach is None or not reach.complete:
            continue
        names = {column.name: _equals(graph, i, column.name, met) for column in join.inputs[i].columns}
        yield from _renamed(
            schemes[i], {name: tuple(n for n in several if n in visible) for name, several in names.items()}
        )


def _equals(graph: JoinGraph, i: int, column: str, met: Mapping[int, list[str]]) -> tuple[str, ...]:
    """An input's column, and those of `met` that have its value wherever they have one at all.

    `met` are the columns asked for, by the class in which they are equal where rows meet.
    """
    join, equal = graph.join, met.get(graph.class_of.get(column, -1), ())
    own = {each.name for each in join.inputs[i].columns}
    mine = [name for name in equal if name in own]
    if i in join.lonely:
        alike = next((each.columns for each in equality_classes(join.inputs[i]) if column in each.columns), ())
        mine = [name for name in mine if name in alike]
    alone = set(join.lonely) - set(graph.static) <= {i}
    theirs = [name for name in equal if alone and name not in own]
    return tuple(dict.fromkeys((column, *mine, *theirs)))


def _renamed(found: Iterable[Derived], names: Mapping[str, tuple[str, ...]]) -> Iterator[Derived]:
    """Every form of each scheme under the new names; none if an attribute has no new name."""
    for derived in found:
        for form in islice(product(*(names.get(a, ()) for a in derived.scheme.attributes)), _FORMS):
            if len(set(form)) == len(form):
                yield replace(derived, scheme=Scheme(form, derived.scheme.ordered))


def _combined(several: list[tuple[Derived, ...]]) -> Iterable[Derived]:
    """One scheme of each: what all inputs have closed. Two rising bounds on one attribute give the lesser."""
    first, *rest = several or [()]
    found: Iterable[Derived] = first
    for other in rest:
        found = _fewest(_both(one, two) for one, two in product(found, other))
    return found


def _both(one: Derived, two: Derived) -> Derived:
    attributes = tuple(dict.fromkeys((*one.scheme.attributes, *two.scheme.attributes)))
    ordered = one.scheme.ordered and two.scheme.ordered and len(attributes) == 1
    promised = tuple(dict.fromkeys((*one.promised, *two.promised)))
    return Derived(Scheme(attributes, ordered), promised)


def _fewest(found: Iterable[Derived]) -> list[Derived]:
    """Without those that need more attributes than another: with many inputs there would be too many."""
    kept: list[Derived] = []
    for derived in sorted(found, key=lambda each: len(each.scheme.attributes)):
        attributes = set(derived.scheme.attributes)
        if not any(
            k.scheme.ordered == derived.scheme.ordered and attributes >= set(k.scheme.attributes) for k in kept
        ):
            kept.append(derived)
    return kept


def _once(found: Iterable[Derived]) -> Iterator[Derived]:
    """The first of those that say the same."""
    seen: set[tuple[frozenset[str], bool]] = set()
    for derived in found:
        key = (frozenset(derived.scheme.attributes), derived.scheme.ordered)
        if key not in seen:
            seen.add(key)
            yield derived
