"""From plans to operators: which state tables there are, and which punctuations somebody asks for.

A punctuation that no operator above can use is not computed. So each node is compiled for what its readers ask
(`Demand`), which flows from the queries down to the streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from caesura import plan
from caesura.catalog import Column, OrderedBy, Relation, Stream, Table
from caesura.operators.closed import Attributes, in_order
from caesura.operators.distinct import Distinct
from caesura.operators.group import Group
from caesura.operators.join import Hop, Join, Side
from caesura.operators.operator import Operator, StateTable
from caesura.operators.project import Project
from caesura.operators.select import Select
from caesura.operators.store import Store
from caesura.safety.equality import EqualityClass, equality_classes
from caesura.safety.reach import Reach
from caesura.safety.schemes import derive
from caesura.spark.aggregates import partials_of, result_of


@dataclass
class Demand:
    """What the readers of a node ask: punctuations confined to which columns, and whether with their history."""

    columns: set[str] = field(default_factory=set)
    history: bool = False
    readers: int = 0

    def ask(self, columns: Iterable[str], *, history: bool = False) -> None:
        self.columns |= set(columns)
        self.history |= history
        self.readers += 1


@dataclass(frozen=True)
class Compiled:
    """The operators of a pipeline by plan node, inputs first; scans have none."""

    nodes: tuple[plan.Plan, ...]
    operators: Mapping[plan.Plan, Operator]
    stores: Mapping[str, Store]
    """The punctuations seen so far, per stream."""
    shared: frozenset[plan.Plan]
    """Nodes with state that several others read: their rows are computed once."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        stores = (table for store in self.stores.values() for table in store.tables)
        return (*stores, *(table for operator in self.operators.values() for table in operator.tables))

    @property
    def relations(self) -> dict[str, Relation]:
        return {node.relation.name: node.relation for node in self.nodes if isinstance(node, plan.Scan)}

    @property
    def streams(self) -> dict[str, Stream]:
        return {name: each for name, each in self.relations.items() if isinstance(each, Stream)}

    @property
    def static_tables(self) -> dict[str, Table]:
        return {name: each for name, each in self.relations.items() if isinstance(each, Table)}


def compile_plans(roots: tuple[plan.Plan, ...]) -> Compiled:
    return _Compiler(roots).compiled()


class _Compiler:
    def __init__(self, roots: tuple[plan.Plan, ...]) -> None:
        self._nodes = tuple(dict.fromkeys(node for root in roots for node in plan.walk(root)))
        self._types = {node: {c.name: c.type for c in node.columns} for node in self._nodes}
        self._reaches: dict[plan.Join, tuple[Reach | None, ...]] = {}
        for root in roots:
            self._reaches |= derive(root).reaches
        self._demands = {node: Demand() for node in self._nodes}
        for root in roots:
            self._demands[root].ask(())
        for node in reversed(self._nodes):
            self._ask_inputs(node, self._demands[node])
        self._stores = self._stream_stores()
        self._keys: dict[plan.Plan, tuple[Attributes, ...]] = {}
        self._labels: dict[str, int] = {}

    def compiled(self) -> Compiled:
        operators: dict[plan.Plan, Operator] = {}
        for node in self._nodes:
            self._keys[node] = self._point_keys(node)
            match node:
                case plan.Scan():
                    pass
                case plan.Filter():
                    operators[node] = Select(node.predicate.sql)
                case plan.Project():
                    outputs = {output.name: output.expr.sql for output in node.outputs}
                    operators[node] = Project(outputs, self._renames(node))
                case plan.Join():
                    operators[node] = self._join(node)
                case plan.Group():
                    operators[node] = self._group(node)
                case plan.Distinct():
                    operators[node] = self._distinct(node)
                case _:
                    raise AssertionError(f"{type(node).__name__} was refused before")
        shared = frozenset(node for node in operators if self._demands[node].readers > 1)
        return Compiled(self._nodes, operators, self._stores, shared)

    def _ask_inputs(self, node: plan.Plan, demand: Demand) -> None:
        match node:
            case plan.Scan():
                pass
            case plan.Filter(input=below):
                self._demands[below].ask(demand.columns, history=demand.history)
            case plan.Project(input=below):
                wanted = {old for names in self._renames(node) for old in names}
                self._demands[below].ask(wanted, history=demand.history)
            case plan.Group(input=below, keys=keys):
                self._demands[below].ask(keys)
            case plan.Distinct(input=below):
                columns = (name for name, type in self._types[below].items() if type.scalar)
                self._demands[below].ask(columns, history=demand.history)
            case plan.Join():
                for i, below in enumerate(node.inputs):
                    closing = {name for each in equality_classes(node) for name in each.columns}
                    wanted = (closing | self._exports(node, i).keys()) & self._types[below].keys()
                    self._demands[below].ask(wanted, history=True)

    def _renames(self, project: plan.Project) -> tuple[dict[str, str], ...]:
        """Input column → output column that readers ask for; several mappings where one has several names."""
        names: dict[str, list[str]] = {}
        for output in project.outputs:
            if output.expr.column is not None and output.name in self._demands[project].columns:
                names.setdefault(output.expr.column, []).append(output.name)
        longest = max(map(len, names.values()), default=0)
        return tuple(
            {old: new[min(i, len(new) - 1)] for old, new in names.items()} for i in range(max(longest, 1))
        )

    def _exports(self, join: plan.Join, i: int) -> dict[str, str]:
        """The columns of input i that readers ask for, by themselves or by an equal column of another input."""
        asked = self._demands[join].columns
        exports = {name: name for name in self._types[join.inputs[i]] if name in asked}
        for each in equality_classes(join):
            known = [name for name in each.columns if name in asked]
            for name in each.columns:
                if known and name in self._types[join.inputs[i]]:
                    exports.setdefault(name, known[0])
        return exports

    def _stream_stores(self) -> dict[str, Store]:
        """Constants are held as points where a promise or an operator names the attributes."""
        stores: dict[str, Store] = {}
        for node in self._nodes:
            if not isinstance(node, plan.Scan) or not isinstance(node.relation, Stream):
                continue
            stream = node.relation
            types = {column.name: column.type for column in stream.columns if column.type.scalar}
            asked = {c.removeprefix(f"{node.alias}.") for c in self._demands[node].columns}
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
            case plan.Filter(input=below) | plan.Distinct(input=below):
                return self._keys[below]
            case plan.Project(input=below):
                found = (_renamed(self._keys[below], names) for names in self._renames(node))
                return tuple(dict.fromkeys(key for keys in found for key in keys))
            case plan.Group(input=below, keys=keys):
                return _renamed(self._keys[below], {key: key for key in keys})
            case plan.Join():
                found = (
                    _renamed(self._keys[below], self._exports(node, i)) for i, below in enumerate(node.inputs)
                )
                return tuple(dict.fromkeys(key for keys in found for key in keys))
            case _:
                raise AssertionError(f"{type(node).__name__} was refused before")

    def _join(self, node: plan.Join) -> Join:
        label = self._label("join")
        sides = tuple(self._side(node, i, label) for i in range(len(node.inputs)))
        equalities = tuple((equality.left, equality.right) for equality in node.equalities)
        residual = node.residual.sql if node.residual is not None else None
        return Join(sides, equalities, residual, self._passed(node, label))

    def _side(self, join: plan.Join, i: int, label: str) -> Side:
        below = join.inputs[i]
        name = f"{label}: {_name_of(below, i)}"
        finite = plan.endless(join) and not plan.endless(below)
        exports = {} if finite else self._exports(join, i)
        pending = None
        if exports:
            types = {column: self._types[below][column] for column in exports}
            keys = _renamed(self._keys[below], {column: column for column in exports})
            pending = Store(f"{name}, not yet passed on", types, keys)
        reach = self._reaches[join][i] if plan.endless(join) else None
        return Side(
            table=StateTable(name, below.columns),
            finite=finite,
            keys=tuple(column.name for column in below.columns if column.name in join.compared),
            alike=_alike(join, below),
            purge=None if reach is None or not reach.complete else _hops(join, reach),
            exports=exports,
            pending=pending,
        )

    def _group(self, node: plan.Group) -> Group:
        label = self._label("group")
        types = {key: self._types[node.input][key] for key in node.keys}
        partials = tuple(p for each in node.aggregates for p in partials_of(each, self._types[node.input]))
        columns = (*(Column(key, type) for key, type in types.items()), *(p.column for p in partials))
        return Group(
            table=StateTable(label, columns, eager=_reopens(node)),
            keys=node.keys,
            partials=partials,
            results={each.result.name: result_of(each) for each in node.aggregates},
            released=Store(f"{label}: released", types, self._keys[node]),
            passed=self._passed(node, label),
        )

    def _distinct(self, node: plan.Distinct) -> Distinct:
        label = self._label("distinct")
        types = {name: type for name, type in self._types[node].items() if type.scalar}
        table = StateTable(label, node.columns, eager=_reopens(node))
        return Distinct(table, Store(f"{label}: released", types, self._keys[node]))

    def _passed(self, node: plan.Join | plan.Group, label: str) -> Store | None:
        demand = self._demands[node]
        if not demand.history or not demand.columns:
            return None
        types = {name: type for name, type in self._types[node].items() if name in demand.columns}
        keys = _renamed(self._keys[node], {name: name for name in types})
        return Store(f"{label}: passed on", types, keys)

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


def _name_of(node: plan.Plan, i: int) -> str:
    scans = [each for each in plan.walk(node) if isinstance(each, plan.Scan)]
    return scans[0].alias if len(scans) == 1 else f"input {i + 1}"


def _alike(join: plan.Join, below: plan.Plan) -> tuple[tuple[str, str], ...]:
    """The columns of one input that must be equal in every result."""
    pairs: list[tuple[str, str]] = []
    for each in equality_classes(join):
        first, *others = [column.name for column in below.columns if column.name in each.columns] or [""]
        pairs += ((first, other) for other in others)
    return tuple(pairs)


def _hops(join: plan.Join, reach: Reach) -> tuple[Hop, ...]:
    """The proof's order. Each hop may use any punctuation on pinned attributes, not only those of its scheme."""
    classes = equality_classes(join)
    known = {column.name for i in (reach.start, *reach.static) for column in join.inputs[i].columns}
    hops: list[Hop] = []
    for hop in reach.hops:
        mine = {column.name for column in join.inputs[hop.input].columns}
        pins, constants = _pins(classes, mine, known)
        hops.append(Hop(hop.input, pins, constants))
        known |= mine
    return tuple(hops)


def _pins(
    classes: tuple[EqualityClass, ...], mine: set[str], known: set[str]
) -> tuple[dict[str, str], dict[str, str]]:
    pins: dict[str, str] = {}
    constants: dict[str, str] = {}
    for each in classes:
        available = [name for name in each.columns if name in known]
        for name in each.columns:
            if name in mine and available:
                pins[name] = available[0]
            elif name in mine and each.constant is not None:
                constants[name] = each.constant.sql
    return pins, constants
