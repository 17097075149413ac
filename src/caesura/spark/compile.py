"""From plans to operators: which state tables there are, and what is asked of them.

Each node is compiled for what its readers ask (`wanted.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from sqlglot import exp

from caesura import plan
from caesura.catalog import Column, OrderedBy, Stream, Table, Values
from caesura.expression import sql
from caesura.operators.closed import Attributes, Closed, in_order
from caesura.operators.combine import Combination
from caesura.operators.conditions import Condition
from caesura.operators.demand import Demanded, Part
from caesura.operators.distinct import Distinct
from caesura.operators.forget import Partner, Partners, Remembered
from caesura.operators.frame import Frame
from caesura.operators.group import Group
from caesura.operators.image import Image
from caesura.operators.join import Join, Side
from caesura.operators.merge import Merge
from caesura.operators.operator import Flow, Operator, StateTable
from caesura.operators.pair import Pair
from caesura.operators.project import Project
from caesura.operators.rank import CAME, Rank
from caesura.operators.select import Select
from caesura.operators.session import Session
from caesura.operators.sort import Sort
from caesura.operators.store import Store
from caesura.plan import types_of
from caesura.safety.complement import excluded
from caesura.safety.components import reaches
from caesura.safety.equality import matching_classes
from caesura.safety.fewest import fewest
from caesura.safety.join_graph import JoinGraph
from caesura.safety.partners import partners, read_once
from caesura.safety.passing import passing
from caesura.safety.reach import Reach, staying
from caesura.safety.schemes import Derived, derive
from caesura.safety.summarise import summary
from caesura.safety.tree import largest_first, leaves
from caesura.spark.aggregates import partial_of, result_of
from caesura.spark.clock import residual
from caesura.spark.frames import framed
from caesura.spark.halves import compared, paired
from caesura.spark.needed import needed
from caesura.spark.once import reading, repeated
from caesura.spark.panes import Overlapping, overlapping
from caesura.spark.pins import able, chains, given_up
from caesura.spark.spans import outside
from caesura.spark.subsets import beyond
from caesura.spark.summed import Summed, taking
from caesura.spark.wanted import AllWanted
from caesura.types import BIGINT

ORDERS = 4
"""The most that are tried for an input: each takes joins of its own."""


@dataclass(frozen=True)
class Compiled:
    """The operators of a pipeline by plan node, inputs first; scans have none."""

    nodes: tuple[plan.Plan, ...]
    operators: Mapping[plan.Plan, Operator]
    stores: Mapping[str, Store]
    """The punctuations seen so far, per stream."""
    shared: frozenset[plan.Plan]
    """Nodes whose rows are read more than once: they are computed once."""
    forgetting: Mapping[plan.Plan, tuple[Partners, ...]] = field(default_factory=dict)
    """The inputs of joins that forget together what they have closed."""

    def inputs(self, node: plan.Plan, flows: Mapping[plan.Plan, Flow]) -> tuple[Flow, ...]:
        """What an operator reads; a join of each input only what it keeps."""
        operator, several = self.operators[node], tuple(flows[below] for below in plan.inputs(node))
        if not isinstance(operator, Join) or operator.given is not None:
            return several
        return tuple(
            flow.only(column.name for column in side.table.columns)
            for flow, side in zip(several, operator.sides, strict=True)
        )

    @property
    def tables(self) -> tuple[StateTable, ...]:
        stores = (table for store in self.stores.values() for table in store.tables)
        return (*stores, *(table for operator in self.operators.values() for table in operator.tables))

    @property
    def streams(self) -> dict[str, Stream]:
        relations = (node.relation for node in self.nodes if isinstance(node, plan.Scan))
        return {each.name: each for each in relations if isinstance(each, Stream)}

    @property
    def static_tables(self) -> tuple[Table | Values, ...]:
        """Not by name: the VALUES of two queries may have the same."""
        relations = (node.relation for node in self.nodes if isinstance(node, plan.Scan))
        return tuple(dict.fromkeys(each for each in relations if not isinstance(each, Stream)))


def compile_plans(
    roots: tuple[plan.Plan, ...],
    asked: Iterable[str] = (),
    *,
    every_order: bool = False,
    fewest_schemes: bool = False,
) -> Compiled:
    """`asked`: the columns on which whoever reads the results asks for punctuations. `every_order`: rows of joins
    ask the other inputs in several orders, where there are several. `fewest_schemes`: they are purged by as few
    schemes as can be."""
    return _Compiler(roots, asked, ORDERS if every_order else 1, fewest_schemes).compiled()


_LONG = 3
"""Columns of any length that rows may have which are held."""


class _Compiler:
    def __init__(
        self, roots: tuple[plan.Plan, ...], asked: Iterable[str], orders: int, fewest_schemes: bool
    ) -> None:
        self._orders = orders
        self._nodes = tuple(dict.fromkeys(node for root in roots for node in plan.walk(root)))
        self._types = {node: types_of(node) for node in self._nodes}
        self._reaches: dict[plan.Join, tuple[Reach | None, ...]] = {}
        self._graphs: dict[plan.Join, JoinGraph] = {}
        self._schemes: dict[plan.Plan, tuple[Derived, ...]] = {}
        for root in roots:
            derivation = derive(root)
            self._reaches |= derivation.reaches
            self._graphs |= derivation.graphs
            self._schemes |= derivation.schemes
        self._purging = {join: frozenset(graph.class_of) for join, graph in self._graphs.items()}
        """The columns by whose punctuations rows of a join are purged."""
        for join, graph in self._graphs.items():
            if fewest_schemes and join.kind == "inner":
                fewer = fewest(graph)
                self._reaches[join] = reaches(fewer)
                schemes = (scheme for several in fewer.schemes for scheme in several)
                self._purging[join] = frozenset(name for scheme in schemes for name in scheme.attributes)
        self._summed = self._summaries()
        self._taking = taking(self._nodes, self._summed)
        synopses = {join: tuple(summed.using) for join, summed in self._summed.items()}
        self._passing = dict(self._passed_by())
        self._wanted = AllWanted(self._nodes, roots, asked, self._graphs, self._purging, synopses, self._passing)
        self._buckets = dict(self._grouped_by_panes())
        self._values = dict(self._computed_once())
        self._stores = self._stream_stores()
        self._needed = needed(self._nodes, roots, lambda node: self._wanted[node].columns)
        self._once = read_once(roots)
        self._keys: dict[plan.Plan, tuple[Attributes, ...]] = {}
        self._labels: dict[str, int] = {}

    def compiled(self) -> Compiled:
        operators: dict[plan.Plan, Operator] = {}
        forgetting: dict[plan.Plan, tuple[Partners, ...]] = {}
        for node in self._nodes:
            self._keys[node] = self._point_keys(node)
            match node:
                case plan.Scan():
                    pass
                case plan.Filter():
                    operators[node] = self._select(node)
                case plan.Project():
                    operators[node] = Project(self._outputs(node), self._wanted.images(node))
                case plan.Join(kind="inner"):
                    operators[node] = join = self._join(node)
                    forgetting[node] = tuple(self._forgetting(node, join))
                case plan.Join() | plan.Compare():
                    operators[node] = self._pair(node)
                case plan.Merge():
                    operators[node] = self._merge(node)
                case plan.Sort():
                    operators[node] = self._sort(node)
                case plan.Group():
                    operators[node] = self._group(node)
                case plan.Rank():
                    operators[node] = self._rank(node)
                case plan.Frame():
                    operators[node] = self._frame(node)
                case plan.Session():
                    operators[node] = self._session(node)
                case plan.Distinct():
                    operators[node] = self._distinct(node)
        shared = {node for node in operators if self._wanted[node].readers > 1}
        for node in self._nodes:
            if isinstance(node, plan.Join | plan.Compare):  # which read their inputs' rows several times
                shared |= {*node.inputs}
        held = frozenset(node for node in shared if _costly(node) and not _wide(node))
        return Compiled(self._nodes, operators, self._stores, held, forgetting)

    def _summaries(self) -> dict[plan.Join, Summed]:
        """The joins that keep synopses of inputs whose rows never leave."""
        found: dict[plan.Join, Summed] = {}
        for join, several in self._reaches.items():
            if join.need is None:
                continue
            leaving = (reach for reach in several if reach is not None and reach.complete)
            orders = (order for reach in leaving for order in chains(reach, self._orders, self._purging[join]))
            asked = frozenset(column for order in orders for hop in order for column in hop.asks)
            whole = summary(join, join.need, asked)
            using = {i: proof for i in staying(several) if (proof := whole.of(i)) is not None}
            found[join] = Summed(join, whole, using)
            if len(staying(several)) == len(self._graphs[join].streams):
                self._purging[join] = frozenset()  # no row waits for a punctuation
        return found

    def _outputs(self, node: plan.Project) -> dict[str, str]:
        if node in self._taking:
            return self._taking[node].passed({output.name: output.expr for output in node.outputs})
        panes = {key: buckets.pane for key, buckets in self._buckets.get(node, {}).items()}
        value = self._values.get(node.input)
        return {each.name: panes.get(each.name, reading(each.expr, value)) for each in node.outputs}

    def _grouped_by_panes(self) -> Iterator[tuple[plan.Plan, dict[str, Overlapping]]]:
        """Where a grouping by buckets that overlap is all that reads a projection, it is by panes."""
        for node in self._nodes:
            match node:
                case plan.Group(input=plan.Project() as below, keys=keys, aggregates=aggregates):
                    found = overlapping(below)
                    arguments = {name for each in aggregates for name in each.arguments}
                    alone = self._wanted[below].readers == 1 and below not in self._taking
                    if alone and len(found) == 1 and found.keys() <= {*keys} - arguments:
                        yield below, found

    def _computed_once(self) -> Iterator[tuple[plan.Plan, exp.Expr]]:
        """Of filters that are read by one projection: what both compute."""
        for node in self._nodes:
            match node:
                case plan.Project(input=plan.Filter() as below, outputs=outputs) if node not in self._taking:
                    panes = self._buckets.get(node, {})
                    value = repeated(below, (each for each in outputs if each.name not in panes))
                    if value is not None and self._wanted[below].readers == 1:
                        yield below, value

    def _select(self, node: plan.Filter) -> Select:
        value = self._values.get(node)
        computed = None if value is None else sql(value)
        return Select(reading(node.predicate, value), self._complement(node), computed)

    def _complement(self, node: plan.Filter) -> Closed:
        patterns = (each.patterns[0] for each in excluded(node.predicate, self._types[node]))
        asked = self._wanted[node].columns if self._wanted[node].history else ()
        return outside(((name, pattern) for name, pattern in patterns if name in asked), self._types[node])

    def _stream_stores(self) -> dict[str, Store]:
        """Constants are held as points where a promise or an operator names the attributes."""
        stores: dict[str, Store] = {}
        for node in self._nodes:
            if not isinstance(node, plan.Scan) or not isinstance(node.relation, Stream):
                continue
            stream = node.relation
            types = {column.name: column.type for column in stream.columns if column.type.scalar}
            asked = {c.removeprefix(f"{node.alias}.") for c in self._wanted[node].columns}
            promised = [each.columns for each in stream.promises if not isinstance(each, OrderedBy)]
            wanted = [*promised, *((name,) for name in asked)]
            earlier = stores[stream.name].keys if stream.name in stores else ()
            keys = {in_order(types, attributes) for attributes in wanted if attributes} | set(earlier)
            usable = sorted(key for key in keys if all(name in types for name in key))
            stores[stream.name] = Store(f"{stream.name}: closed", types, tuple(usable))
        return stores

    def _point_keys(self, node: plan.Plan) -> tuple[Attributes, ...]:
        """The attribute sets on which the node's punctuations may come as points."""
        match node:
            case plan.Scan(relation=Stream() as stream, alias=alias):
                return tuple(tuple(f"{alias}.{a}" for a in key) for key in self._stores[stream.name].keys)
            case plan.Scan():
                return ()
            case plan.Filter(input=below) | plan.Distinct(input=below) | plan.Compare(inputs=(below, _)):
                return self._keys[below]
            case plan.Sort():
                return ()
            case plan.Merge(inputs=several):
                return self._combination(node).keys(
                    [self._keys[below] for below in several if plan.endless(below)]
                )
            case plan.Project(input=below):
                found = (_point_images(self._keys[below], images) for images in self._wanted.images(node))
                return tuple(dict.fromkeys(key for keys in found for key in keys))
            case plan.Group(input=below, keys=keys) | plan.Session(input=below, keys=keys):
                return _renamed(self._keys[below], {key: key for key in keys})
            case plan.Rank(input=below, partition=partition) | plan.Frame(input=below, partition=partition):
                return _renamed(self._keys[below], {name: name for name in partition})
            case plan.Join():
                found = (
                    _renamed(self._keys[below], self._wanted.exports(node, i))
                    for i, below in enumerate(node.inputs)
                )
                return tuple(dict.fromkeys(key for keys in found for key in keys))

    def _join(self, node: plan.Join) -> Join:
        label = self._label("join")
        sides = tuple(self._side(node, i, label) for i in range(len(node.inputs)))
        equalities = tuple((equality.left, equality.right) for equality in node.equalities)
        summed = self._summed.get(node)
        asked = node if summed is None else replace(node, residual=summed.condition())
        others = tuple(Condition(f"({each.sql})", each.columns) for each in residual(asked))
        known = frozenset(column.name for side in sides for column in side.table.columns)
        classes = tuple(known.intersection(each.columns) for each in matching_classes(node))
        given = summed.given if summed is not None else None
        passed = self._passed(node, label)
        if node.demand and isinstance(node.shape, tuple):
            tree = self._part(node, node.shape, label)
            suspended = dict(self._suspended(node, tree, label))
            return Demanded(label, sides, equalities, others, classes, passed, given, tree, suspended)
        return Join(label, sides, equalities, others, classes, passed, given)

    def _part(self, join: plan.Join, tree: tuple[plan.Tree, ...], label: str) -> Part:
        """A join of the tree. Joins of finite inputs alone are no parts: nothing comes to them."""
        finite = {i for i, below in enumerate(join.inputs) if not plan.endless(below)}
        nested = ((child,) if not finite.issuperset(leaves(child)) else leaves(child) for child in tree)
        children = tuple(
            child if isinstance(child, int) else self._part(join, child, label)
            for child in largest_first(tuple(chain(*nested)))
        )
        part = Part(children)
        if len(part.inputs) == len(join.inputs):
            return part
        names = ", ".join(_name_of(join, i) for i in sorted(part.inputs))
        columns = tuple(column for i in sorted(part.inputs) for column in join.inputs[i].columns)
        table = StateTable(f"{label}: made of {names}", columns, eager=_reopens(join))
        return Part(children, table)

    def _suspended(self, join: plan.Join, tree: Part, label: str) -> Iterator[tuple[int, StateTable]]:
        """The inputs that somebody judges: those of the joins below the root."""
        for part in tree.below:
            for i in (child for child in part.children if isinstance(child, int)):
                if plan.endless(join.inputs[i]):
                    name = f"{label}: {_name_of(join, i)}, suspended"
                    yield i, StateTable(name, join.inputs[i].columns, eager=True)

    def _side(self, join: plan.Join, i: int, label: str) -> Side:
        below = join.inputs[i]
        name = f"{label}: {_name_of(join, i)}"
        finite = plan.endless(join) and not plan.endless(below)
        exports = {} if finite else self._wanted.exports(join, i)
        reach = self._reaches[join][i] if plan.endless(join) else None
        summed = self._summed.get(join)
        implied = summed.able(i) if summed is not None else ()
        synopsis = summed.synopsis(i) if summed is not None else None
        return Side(
            table=StateTable(
                name,
                self._kept(join, below) if summed is None else summed.columns(i),
                # Partial results go with a row: they are looked through when all of a table is written anew.
                piecewise=synopsis is None and not join.demand,
            ),
            finite=finite,
            keys=tuple(column.name for column in below.columns if column.name in join.compared),
            able=" AND ".join((*able(join, below), *implied)) or "true",
            purge=None
            if reach is None or not reach.complete
            else chains(reach, self._orders, self._purging[join]),
            exports=exports,
            pending=self._pending(below, name, exports),
            release=given_up(below, i) if synopsis is None else None,
            synopsis=synopsis,
        )

    def _kept(self, join: plan.Join, below: plan.Plan) -> tuple[Column, ...]:
        """The columns of an input of a join that somebody needs; of rows that are only counted, one."""
        names = self._needed.of(join, below)
        return tuple(each for each in below.columns if each.name in names) or below.columns[:1]

    def _pending(self, below: plan.Plan, name: str, exports: Mapping[str, str]) -> Store | None:
        """Punctuations of an input that wait to be passed on, if anybody asks for them."""
        if not exports:
            return None
        types = {column: self._types[below][column] for column in exports}
        return Store(f"{name}, not yet passed on", types, self._keys_among(below, types))

    def _forgetting(self, node: plan.Join, join: Join) -> Iterator[Partners]:
        class_of = self._graphs[node].class_of
        for found in partners(self._graphs[node], self._once):
            several: list[Partner] = []
            for i in found.inputs:
                own = ((name, class_of.get(name)) for name in self._types[node.inputs[i]])
                values = {name: f"value {number}" for name, number in own if number in found.classes}
                remembered = self._remembered(node.inputs[i], found.forgetting.get(i, ()), values)
                tables = tuple(table.name for table in join.tables_of(i))
                several.append(Partner(i, tables, values, remembered))
            yield Partners(tuple(several))

    def _remembered(self, scan: plan.Plan, columns: Attributes, values: Mapping[str, str]) -> Remembered | None:
        if not columns:
            return None
        assert isinstance(scan, plan.Scan)
        store, mine = self._stores[scan.relation.name], {c.removeprefix(f"{scan.alias}."): c for c in columns}
        return Remembered(store, {name: values[mine[name]] for name in in_order(store.types, mine)})

    def _pair(self, node: plan.Join | plan.Compare) -> Pair:
        label = self._label(node.kind if isinstance(node, plan.Compare) else f"{node.kind} join")
        names = [f"{label}: {_name_of(node, i)}" for i in (0, 1)]
        exports = [self._wanted.exports(node, i) for i in (0, 1)]
        pending = [self._pending(node.inputs[i], names[i], exports[i]) for i in (0, 1)]
        pair = compared(node, names) if isinstance(node, plan.Compare) else paired(self._graphs[node], names)
        one, other = (
            replace(half, exports=exports[i], pending=pending[i], eager=_reopens(node))
            for i, half in enumerate(pair.halves)
        )
        return replace(pair, halves=(one, other), passed=self._passed(node, label))

    def _merge(self, node: plan.Merge) -> Merge:
        return Merge(self._combination(node), self._passed(node, self._label("union")))

    def _combination(self, node: plan.Merge) -> Combination:
        wanted = frozenset(frozenset(derived.scheme.attributes) for derived in self._schemes[node])
        return Combination(tuple(self._types[node]), wanted)

    def _sort(self, node: plan.Sort) -> Sort:
        table = StateTable(self._label("sort"), node.columns, eager=_reopens(node))
        return Sort(table, node.keys, self._types[node][node.keys[0].column])

    def _group(self, node: plan.Group) -> Group:
        label = self._label("group")
        types = {key: self._types[node.input][key] for key in node.keys}
        taking = self._taking.get(node)
        below, rest = self._types[node.input], {} if taking is not None else beyond(node)
        several = (
            partial_of(each, below, rest.get(each, ())) if taking is None else taking.partial(each, below)
            for each in node.aggregates
        )
        partials = tuple(dict.fromkeys(several))
        columns = (*(Column(key, type) for key, type in types.items()), *(p.column for p in partials))
        return Group(
            table=StateTable(label, columns, eager=_reopens(node)),
            keys=node.keys,
            partials=partials,
            results={each.result.name: result_of(each, below, rest.get(each, ())) for each in node.aggregates},
            released=Store(f"{label}: released", types, self._keys[node]),
            passed=self._passed(node, label),
            changes=node.emit == "changes",
            light=not _costly(node.input),
            panes=next((each.panes(key) for key, each in self._buckets.get(node.input, {}).items()), None),
        )

    def _passed_by(self) -> Iterator[tuple[plan.Rank | plan.Frame, Attributes]]:
        for node in self._nodes:
            if isinstance(node, plan.Rank | plan.Frame):
                bound = passing(node, [derived.scheme for derived in self._schemes[node.input]])
                yield node, () if bound is None else bound.attributes

    def _rank(self, node: plan.Rank) -> Rank:
        label, first = self._label("rank"), self._passing[node]
        came = (Column(CAME, BIGINT),) if first else ()
        return Rank(
            table=StateTable(label, (*node.input.columns, *came), eager=_reopens(node)),
            partition=node.partition,
            order=node.order,
            places=node.places,
            function=node.function,
            result=node.result.name,
            limit=node.limit,
            released=self._released(node, label),
            passed=self._passed(node, label),
            passing=bool(first),
        )

    def _frame(self, node: plan.Frame) -> Frame:
        label, passing = self._label("frame"), bool(self._passing[node])
        released, passed = self._released(node, label), self._passed(node, label)
        return framed(node, label, released, passed, passing=passing, eager=_reopens(node))

    def _released(self, node: plan.Rank | plan.Frame, label: str) -> Store:
        first = self._passing[node]
        types = {name: self._types[node][name] for name in (*node.partition, *first)}
        keys = (*self._keys[node], *((first,) if first else ()))
        return Store(f"{label}: released", {name: type for name, type in types.items() if type.scalar}, keys)

    def _session(self, node: plan.Session) -> Session:
        label = self._label("session")
        below = self._types[node.input]
        types = {key: below[key] for key in node.keys}
        partials = tuple(dict.fromkeys(partial_of(each, below) for each in node.aggregates))
        kept = {**types, **{name: self._types[node][name] for name in (plan.SESSION_START, plan.SESSION_END)}}
        columns = (*(Column(name, type) for name, type in kept.items()), *(p.column for p in partials))
        closing = {**types, plan.SESSION_END: kept[plan.SESSION_END]}
        return Session(
            table=StateTable(label, columns, eager=_reopens(node)),
            time=node.time,
            gap=node.gap.sql,
            keys=node.keys,
            partials=partials,
            results={each.result.name: result_of(each, below) for each in node.aggregates},
            released=Store(f"{label}: released", closing, self._keys[node]),
            passed=self._passed(node, label),
        )

    def _distinct(self, node: plan.Distinct) -> Distinct:
        label = self._label("distinct")
        types = {name: type for name, type in self._types[node].items() if type.scalar}
        table = StateTable(label, node.columns, eager=_reopens(node))
        return Distinct(table, Store(f"{label}: released", types, self._keys[node]))

    def _passed(self, node: plan.Plan, label: str) -> Store | None:
        wanted = self._wanted[node]
        if not wanted.history or not wanted.columns:
            return None
        types = {name: type for name, type in self._types[node].items() if name in wanted.columns}
        return Store(f"{label}: passed on", types, self._keys_among(node, types))

    def _keys_among(self, node: plan.Plan, columns: Iterable[str]) -> tuple[Attributes, ...]:
        """What is said of the node by points, or by ranges of one column: those grow together in a table of it."""
        points = _renamed(self._keys[node], {name: name for name in columns})
        schemes = (tuple(derived.scheme.attributes) for derived in self._schemes[node])
        alone = (key for key in schemes if len(key) == 1 and key[0] in columns)
        return tuple(dict.fromkeys((*points, *alone)))

    def _label(self, kind: str) -> str:
        self._labels[kind] = self._labels.get(kind, 0) + 1
        return kind if self._labels[kind] == 1 else f"{kind} {self._labels[kind]}"


def _reopens(node: plan.Plan) -> bool:
    """Whether a key that was closed may come again, since a LIFESPAN ends: then what was released must be gone
    from the state, not only marked as such."""
    scans = (each.relation for each in plan.walk(node) if isinstance(each, plan.Scan))
    promises = (promise for each in scans if isinstance(each, Stream) for promise in each.promises)
    return any(promise.lifespan is not None for promise in promises)


def _renamed(keys: tuple[Attributes, ...], names: Mapping[str, str]) -> tuple[Attributes, ...]:
    renamed = (tuple(dict.fromkeys(names[a] for a in key)) for key in keys if all(a in names for a in key))
    return tuple(dict.fromkeys(renamed))


def _costly(node: plan.Plan) -> bool:
    """Whether its rows take more than reading a source."""
    light = plan.Scan | plan.Filter | plan.Project
    return plan.endless(node) and not all(isinstance(each, light) for each in plan.walk(node))


def _wide(node: plan.Plan) -> bool:
    """Whether to hold its rows takes longer than to join them again for each reader, who needs a part of them."""
    joined = node.input if isinstance(node, plan.Filter | plan.Project) else node
    long = (column for column in node.columns if not (column.type.numeric or column.type.temporal))
    return isinstance(joined, plan.Join) and joined.kind == "inner" and len([*long]) > _LONG


def _point_images(keys: tuple[Attributes, ...], images: Mapping[str, Image]) -> tuple[Attributes, ...]:
    """Under an expression with the same value for several, constants say nothing."""
    return _renamed(keys, {column: image.name for column, image in images.items() if image.strict})


def _name_of(node: plan.Join | plan.Compare, i: int) -> str:
    """The alias of what an input reads, if that tells it from the other inputs."""
    read = [[each.alias for each in plan.walk(below) if isinstance(each, plan.Scan)] for below in node.inputs]
    alone = [aliases[0].lower() if len(aliases) == 1 else None for aliases in read]
    return read[i][0] if alone[i] is not None and alone.count(alone[i]) == 1 else f"input {i + 1}"
