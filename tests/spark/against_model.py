"""Runs a plan on Spark and in the model, slice by slice: rows out, punctuations passed on, rows kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from caesura import plan
from caesura.checkpoint.manifest import TableVersion
from caesura.model import operator as model
from caesura.model.aggregates import result
from caesura.model.demand import Demanded
from caesura.model.distinct import Distinct
from caesura.model.frame import Frame
from caesura.model.group import Group, came
from caesura.model.join import Join, hops
from caesura.model.merge import Merge
from caesura.model.operator import Band, Predicate, Row
from caesura.model.pair import Kind, Pair
from caesura.model.project import Project
from caesura.model.rank import Rank
from caesura.model.select import Select
from caesura.model.session import Session
from caesura.model.sort import Sort
from caesura.operators import demand as demand_on_spark
from caesura.operators import distinct as distinct_on_spark
from caesura.operators import frame as frame_on_spark
from caesura.operators import group as group_on_spark
from caesura.operators import join as join_on_spark
from caesura.operators import pair as pair_on_spark
from caesura.operators import rank as rank_on_spark
from caesura.operators import session as session_on_spark
from caesura.operators import sort as sort_on_spark
from caesura.operators.closed import NOTHING, Closed, covered
from caesura.operators.operator import Change, Flow, State
from caesura.operators.plans import plans_of
from caesura.operators.rows import Rows, leaf, quote, text, union
from caesura.operators.together import workers
from caesura.punctuation import EVERYTHING, Constant, Listed, Punctuation, Range, confined, set_match
from caesura.punctuation_json import read, write
from caesura.safety.bounds import stated
from caesura.safety.passing import passing
from caesura.safety.schemes import derive
from caesura.spark import punctuations
from caesura.spark.aggregates import partial_of
from caesura.spark.compile import compile_plans
from caesura.spark.evaluate import evaluate
from caesura.spark.purge import PurgePolicy
from caesura.spark.run import work_session
from caesura.spark.state import StateFiles
from caesura.spark.storage import storage_at
from caesura.types import BIGINT

Trace = Sequence[Mapping[str, Sequence[tuple[int | None, ...] | str]]]
"""Slices: by stream, the rows as tuples and the punctuations as texts."""


def of_stream(relation: plan.Scan, items: Sequence[tuple[int | None, ...] | str]) -> model.Slice:
    """A slice with the stream's own column names."""
    names = [column.name for column in relation.relation.columns]
    rows = tuple(Row.of(dict(zip(names, item, strict=True))) for item in items if not isinstance(item, str))
    types = dict.fromkeys(names, BIGINT)
    given = (read(item, types) for item in items if isinstance(item, str))
    return model.Slice(rows, frozenset(each for punctuation in given for each in without_lists(punctuation)))


def without_lists(punctuation: Punctuation) -> Iterator[Punctuation]:
    """A list says what its constants say, one by one: on Spark it may be passed on in parts."""
    choices = (
        [(name, Constant(value)) for value in pattern.values] if isinstance(pattern, Listed) else [(name, pattern)]
        for name, pattern in punctuation.patterns
    )
    return (Punctuation(chosen) for chosen in product(*choices))


def under_alias(scanned: plan.Scan, slice: model.Slice) -> model.Slice:
    rows = (Row.of({f"{scanned.alias}.{name}": value for name, value in row.items()}) for row in slice.rows)
    named = (
        Punctuation(tuple((f"{scanned.alias}.{n}", p) for n, p in each.patterns)) for each in slice.punctuations
    )
    return model.Slice(tuple(rows), frozenset(named))


@dataclass
class OnSpark:
    """A plan's operators with their state in files, called as the slice driver calls them."""

    spark: SparkSession
    folder: Path
    roots: Mapping[plan.Plan, tuple[str, ...]]
    """And the columns on which punctuations of their results are asked for."""
    policy: PurgePolicy
    versions: dict[str, TableVersion] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    held: dict[str, list[Row]] = field(default_factory=dict)
    slices: int = 0

    def __post_init__(self) -> None:
        compiled = compile_plans(tuple(self.roots), {name for names in self.roots.values() for name in names})
        # What is compared at every node is computed once at every node.
        self.compiled = replace(compiled, shared=frozenset(compiled.operators))
        storage = storage_at(self.spark, str(self.folder))
        self.files = StateFiles(self.spark, storage, self.compiled.tables, self.policy)

    def run(self, arrivals: Mapping[str, model.Slice], probes: Mapping[plan.Plan, Rows]) -> list[Seen]:
        """One slice; what each node of `probes` gave its readers. All of it is little; every second slice is
        executed as if it were much."""
        plans_of(self.spark).ways.gathering = self.slices % 2 == 0
        state = self.files.open(self.versions)
        leaves: dict[plan.Plan, Flow] = {}
        remembered: dict[str, Change] = {}
        for node in self.compiled.nodes:
            if isinstance(node, plan.Scan):
                name = node.relation.name
                rows, new = self.frame(node, arrivals[name]), self.closed(node, arrivals[name], state)
                before = self.compiled.stores[name].read(state) | Closed(everything=name in self.ended)
                names = {column.name: f"{node.alias}.{column.name}" for column in node.relation.columns}
                named = None if rows is None else rows.renamed(names)
                leaves[node] = Flow(named, new.renamed(names), before.renamed(names))
                remembered |= self.compiled.stores[name].append(state, Closed(new.points, new.boxes))
                self.ended |= {name} if new.everything else set()
        flows, changes = evaluate(self.compiled, state, leaves)
        changes |= remembered
        tables: dict[str, Rows | None] = {}
        for i, (node, rows) in enumerate(probes.items()):
            passed = flows[node].new.confined(rows.columns) if self.asks(node) else NOTHING
            tables[f"rows {i}"] = flows[node].rows
            tables[f"passed {i}"] = covered(rows, passed) if passed else None
        with workers(self.spark) as pool:  # as the driver has it
            writing = pool.submit(self.files.write, self.slices, changes)
            found = self._collected(tables)
            written = writing.result()
        self.versions = self.files.versions(self.versions, changes, self.slices, written)
        self.slices += 1
        state.forget()
        after = self.files.open(self.versions)
        holding = [table.name for table in self.compiled.tables if table.holds == "rows"]
        self.held = self._collected({name: after[name].rows for name in holding})
        return [Seen(found[f"rows {i}"], frozenset(found[f"passed {i}"])) for i in range(len(probes))]

    def asks(self, node: plan.Plan) -> bool:
        """What a group over a join passes on is what the join does: the plan is deep, and one look is enough."""
        return not isinstance(node, plan.Group) or not isinstance(node.input, plan.Join)

    def frame(self, node: plan.Scan, slice: model.Slice) -> Rows | None:
        if not slice.rows:
            return None
        names = [column.name for column in node.relation.columns]
        frame = table(self.spark, names, [[row[name] for name in names] for row in slice.rows])
        return leaf(frame)

    def closed(self, node: plan.Scan, slice: model.Slice, state: State) -> Closed:
        types = {column.name: column.type for column in node.relation.columns}
        keys = self.compiled.stores[node.relation.name].keys
        counts: dict[str, int] = {}
        for each in slice.punctuations:
            kind = _kind(each, list(types), keys)
            counts[kind] = counts.get(kind, 0) + 1
        if not counts:
            return Closed()
        reader = punctuations.Reader(types, keys)
        texts = self.spark.sql("SELECT explode(:texts) AS text", {"texts": [write(p) for p in slice.punctuations]})
        parsed = reader.parse(leaf(texts), "text").frame(self.spark).localCheckpoint()
        closed = reader.closed(leaf(parsed), counts)
        return closed.mapped(lambda rows, what: state.share(f"{node.alias}: {what}", rows))

    def _collected(self, tables: Mapping[str, Rows | None]) -> dict[str, list[Row]]:
        """The rows of several tables by one query, as JSON."""
        found: dict[str, list[Row]] = {name: [] for name in tables}
        tagged = union(
            rows.project({"name": text(name), "row": _json(rows)})
            for name, rows in tables.items()
            if rows is not None
        )
        for name, row in tagged.frame(self.spark).coalesce(1).collect() if tagged is not None else ():
            found[name].append(Row.of(json.loads(row)))
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def kept(self, table: str) -> tuple[list[Row], bool]:
        """What a state table holds, and whether this slice wrote it anew: if not, rows may wait to be purged."""
        version = self.versions.get(table, TableVersion())
        anew = version.base is not None and version.base.slice == self.slices - 1
        return self.held[table], anew


def table(spark: SparkSession, names: Sequence[str], rows: Sequence[Sequence[object]]) -> DataFrame:
    """Rows of BIGINTs as literals: `createDataFrame` would start Python workers for them."""
    cells = ", ".join(
        "({})".format(", ".join("NULL" if cell is None else f"{cell}L" for cell in row)) for row in rows
    )
    typed = ", ".join(f"CAST(c{i} AS BIGINT) AS {quote(name)}" for i, name in enumerate(names))
    return spark.sql(f"SELECT {typed} FROM VALUES {cells} AS t({', '.join(f'c{i}' for i in range(len(names)))})")


def _json(rows: Rows) -> str:
    return f"to_json(struct({', '.join(map(quote, rows.columns))}), map('ignoreNullFields', 'false'))"


@dataclass(frozen=True)
class Seen:
    rows: list[Row]
    passed: frozenset[Row]
    """The probes that a punctuation passed on in this slice matches."""


def _kind(punctuation: Punctuation, names: list[str], keys: tuple[tuple[str, ...], ...]) -> str:
    if punctuation == EVERYTHING:
        return punctuations.EVERYTHING
    key = tuple(name for name in names if name in punctuation.attributes)
    ranged = any(isinstance(pattern, Range) for _, pattern in punctuation.patterns)
    return punctuations.BOX if ranged or key not in keys else punctuations.kind_of(key)


def _dearer(row: Row) -> bool | None:
    price, x = row["b.price"], row["a.x"]
    return price > x if isinstance(price, int) and isinstance(x, int) else None


RESIDUALS: dict[str, Predicate] = {"`b.price` > `a.x`": _dearer}
"""What is left of join conditions beside equalities, for the model."""


def residual_of(join: plan.Join) -> Predicate | None:
    return None if join.residual is None else RESIDUALS.get(join.residual.sql)


def bands_of(join: plan.Join) -> tuple[Band, ...]:
    """Where the residual is no predicate that the model knows by its text, it says what is at most what."""
    if join.residual is None or residual_of(join) is not None:
        return ()
    found = stated(join.residual)
    return tuple(Band(b.column, str(b.by), sum(int(each.amount.sql) for each in b.shifts)) for b in found)


def model_of(node: plan.Plan, compiled: join_on_spark.Join | None = None) -> model.Operator:
    match node:
        case plan.Filter():
            return Select(lambda row: None if row["b.price"] is None else row["b.price"] > 10)  # type: ignore[operator]
        case plan.Project():
            return Project(tuple((output.name, str(output.expr.column)) for output in node.outputs))
        case plan.Join(kind="left" | "right" | "full" | "semi" | "anti" as kind):
            one, other = (tuple(column.name for column in below.columns) for below in node.inputs)
            pairs = tuple((e.left, e.right) for e in node.equalities)
            return Pair((one, other), pairs, kind, residual_of(node), bands=bands_of(node))
        case plan.Compare():
            names = tuple(column.name for column in node.columns)
            kinds: dict[str, Kind] = {"intersect": "semi", "except": "anti"}
            return Pair((names, names), tuple((name, name) for name in names), kinds[node.kind], same=True)
        case plan.Merge():
            return Merge(len(node.inputs))
        case plan.Sort():
            return Sort(node.keys, countable=True)
        case plan.Rank(order=order, places=places):
            by_a_bound = passing(node, derive(node.input).of(node.input)) is not None
            return Rank(
                node.partition, order, places, node.function, node.result.name, node.limit, passing=by_a_bound
            )
        case plan.Frame(order=order, places=places, functions=functions):
            by_a_bound = passing(node, derive(node.input).of(node.input)) is not None
            return Frame(node.partition, order, places, functions, by_a_bound)
        case plan.Join():
            assert compiled is not None
            columns = [[column.name for column in below.columns] for below in node.inputs]
            orders = [[[hop.input for hop in chain] for chain in side.purge or ()] for side in compiled.sides]
            bands = bands_of(node)
            chains = hops(columns, node.equalities, orders, bands)
            given = (tuple(map(tuple, columns)), node.equalities, chains, residual_of(node), bands)
            return Join(*given) if not node.demand or node.shape is None else Demanded(*given, tree=node.shape)
        case plan.Group():
            return Group(node.keys, node.aggregates, node.emit == "changes")
        case plan.Session():
            return Session(node.time, int(node.gap.sql), node.keys, node.aggregates)
        case plan.Distinct():
            return Distinct()
        case _:
            raise ValueError(f"there is no model of {type(node).__name__}")


def compare(
    spark: SparkSession, folder: Path, root: plan.Plan, policy: PurgePolicy, trace: Trace, values: str
) -> None:
    """`values` are those that the probes for punctuations take in each column; `-` is NULL."""
    columns = root.keys if isinstance(root, plan.Group) else tuple(column.name for column in root.columns)
    compare_all(spark, folder, {root: columns}, policy, trace, values)


def compare_all(
    spark: SparkSession,
    folder: Path,
    roots: Mapping[plan.Plan, tuple[str, ...]],
    policy: PurgePolicy,
    trace: Trace,
    values: str,
) -> None:
    """Several plans over the same streams: it takes Spark little longer than one."""
    session = work_session(spark)
    on_spark = OnSpark(session, folder, roots, policy)
    scans = [node for node in on_spark.compiled.nodes if isinstance(node, plan.Scan)]
    nodes = [node for node in on_spark.compiled.nodes if not isinstance(node, plan.Scan)]
    arrivals = [{s.relation.name: of_stream(s, slice.get(s.relation.name, ())) for s in scans} for slice in trace]
    asked: dict[plan.Plan, tuple[str, ...]] = {node: asked_columns(on_spark, node) for node in nodes}
    domain = [None if each == "-" else int(each) for each in values.split()]
    rows: dict[plan.Plan, list[Row]] = {
        node: [Row.of(dict(zip(names, each, strict=True))) for each in product(domain, repeat=len(names))]
        for node, names in asked.items()
    }
    probes: dict[plan.Plan, Rows] = {
        node: leaf(table(session, asked[node], [[row[name] for name in asked[node]] for row in rows[node]]))
        for node in nodes
        if asked[node]
    }
    outputs: dict[plan.Plan, list[model.Output]] = {}
    for node in on_spark.compiled.nodes:
        if isinstance(node, plan.Scan):
            slices = [under_alias(node, slice[node.relation.name]) for slice in arrivals]
            outputs[node] = [model.Output(slice.rows, slice.punctuations, ()) for slice in slices]
        else:
            given = zip(*(outputs[below] for below in plan.inputs(node)), strict=True)
            operator = on_spark.compiled.operators[node]
            meaning = model_of(node, operator if isinstance(operator, join_on_spark.Join) else None)
            new = [[model.Slice(o.rows, o.punctuations) for o in together] for together in given]
            outputs[node] = list(model.run(meaning, new))

    seen: dict[plan.Plan, set[Row]] = {node: set() for node in probes}
    so_far: dict[plan.Plan, set[Punctuation]] = {node: set() for node in probes}
    for number, slice in enumerate(arrivals):
        for node, found in zip(probes, on_spark.run(slice, probes), strict=True):
            where = f"slice {number}, {type(node).__name__} {getattr(node, 'kind', '')}"
            wanted = outputs[node][number]
            assert found.rows == sorted(narrow(on_spark, node, wanted.rows), key=repr), where
            if not on_spark.asks(node):
                continue
            seen[node] |= found.passed
            so_far[node] |= {p for p in wanted.punctuations if confined(p, asked[node])}
            assert seen[node] == {row for row in rows[node] if set_match(row, so_far[node])}, where
        for node in probes:
            compare_kept(on_spark, node, outputs[node][number], number)


def narrow(on_spark: OnSpark, node: plan.Plan, rows: Iterable[Row]) -> Iterable[Row]:
    """Of the rows of a join, the columns that somebody needs."""
    join = on_spark.compiled.operators.get(node)
    if not isinstance(join, join_on_spark.Join) or join.given is not None:
        return rows
    needed = {column.name for side in join.sides for column in side.table.columns}
    return (Row.of({name: value for name, value in row.items() if name in needed}) for row in rows)


def asked_columns(on_spark: OnSpark, node: plan.Plan) -> tuple[str, ...]:
    """The columns on which punctuations of the node are of use to its reader."""
    if node in on_spark.roots:
        return on_spark.roots[node]
    reader = next(other for other in on_spark.compiled.nodes if node in plan.inputs(other))
    wanted = asked_columns(on_spark, reader)
    if isinstance(reader, plan.Project):
        return tuple(old for old, new in reader.copies.items() if set(new) & set(wanted))
    return wanted


def compare_kept(on_spark: OnSpark, node: plan.Plan, wanted: model.Output, number: int) -> None:
    match on_spark.compiled.operators[node]:
        case demand_on_spark.Demanded(sides=sides, suspended=suspended, tree=tree):
            made = [part.made.name for part in tree.below if part.made is not None]
            names = [*(side.table.name for side in sides), *(suspended.get(i) for i in range(len(sides))), *made]
            tables = [
                (each if isinstance(each, str) else each.name, list(rows))
                for each, rows in zip(names, wanted.kept, strict=True)
                if each is not None
            ]
        case join_on_spark.Join(sides=sides):
            tables = [
                (side.table.name, list(narrow(on_spark, node, rows)))
                for side, rows in zip(sides, wanted.kept, strict=True)
            ]
        case pair_on_spark.Pair(halves=halves, second=second) as pair:
            tables = [
                (
                    half.table.name,
                    kept_of(half, wanted.kept[i], second if i else {}, once=i == 1 and not pair.matches),
                )
                for i, half in enumerate(halves)
            ]
        case distinct_on_spark.Distinct(table=table) | sort_on_spark.Sort(table=table):
            tables = [(table.name, list(wanted.kept[0]))]
        case rank_on_spark.Rank(table=table):
            stored = [column.name for column in table.columns]
            tables = [(table.name, [Row.of({name: row.get(name) for name in stored}) for row in wanted.kept[0]])]
        case frame_on_spark.Frame() as frame:
            rows_of = zip((frame.waiting, frame.recent), wanted.kept, strict=False)
            tables = [(table.name, list(rows)) for table, rows in rows_of if table is not None]
            if frame.earlier is not None:
                tables.append((frame.earlier.name, list(so_far(frame, wanted.kept[2]))))
        case group_on_spark.Group(table=table) | session_on_spark.Session(table=table):
            assert isinstance(node, plan.Group | plan.Session)
            tables = [(table.name, [partial(node, row) for row in wanted.kept[0]])]
        case _:
            return
    for name, rows in tables:
        held, exactly = on_spark.kept(name)
        if exactly:
            assert held == sorted(rows, key=repr), f"slice {number}, {name}"
        elif isinstance(node, plan.Join):
            assert all(row in held for row in rows), f"slice {number}, {name}"


def kept_of(half: pair_on_spark.Half, rows: model.Rows, names: Mapping[str, str], *, once: bool) -> list[Row]:
    """The model's rows in the columns that are stored; of some inputs equal ones are stored once."""
    needed = {column.name for column in half.columns}
    stored = [{names.get(name, name): value for name, value in row.items()} for row in rows]
    found = [Row.of({name: value for name, value in row.items() if name in needed}) for row in stored]
    return list(dict.fromkeys(found)) if once else found


def so_far(frame: frame_on_spark.Frame, rows: model.Rows) -> Iterator[Row]:
    """What Spark keeps of each partition for frames without a beginning."""
    time = frame.places[0].column
    places = Sort(frame.places)
    partitions: dict[tuple[object, ...], list[Row]] = {}
    for row in sorted(rows, key=places.place):
        partitions.setdefault(tuple(row[name] for name in frame.partition), []).append(row)
    for key, several in partitions.items():
        cells = dict(zip(frame.partition, key, strict=True))
        folds = {piece.column.name: _folded(piece.column.name, several) for piece in frame.pieces}
        yield Row.of({**cells, time: several[-1][time], **folds})


def _folded(name: str, rows: list[Row]) -> object:
    """By the name of the partial result: `count of rows`, `first that is there of a.v`."""
    what, _, of = name.rpartition(" of ")
    values = [1 if of == "rows" else row[of] for row in rows]
    there = [value for value in values if isinstance(value, int)]
    match what:
        case "count":
            return len(there)
        case "sum" | "sum for the mean":
            return sum(there) if there else None
        case "min":
            return min(there, default=None)
        case "max":
            return max(there, default=None)
        case "first":
            return {"v": values[0]}
        case "last that is there":
            return {"v": there[-1]} if there else None
    raise ValueError(f"what is {name}?")


def partial(node: plan.Group | plan.Session, row: Row) -> Row:
    """What Spark keeps for what came: the result so far, or sum and count of an average."""
    results = {aggregate.result.name for aggregate in node.aggregates}
    cells: dict[str, object] = {name: value for name, value in row.items() if name not in results}
    types = {column.name: column.type for column in node.input.columns}
    for aggregate in node.aggregates:
        values, name = came(row, aggregate), partial_of(aggregate, types).column.name
        cells[name] = result(aggregate, values)
        if aggregate.function == "AVG":
            present = [float(value) for (value,) in values if value is not None]
            cells[name] = {"sum": sum(present) if present else None, "count": len(present)}
    return Row.of(cells)


LAZY = PurgePolicy(eager_rows=0, max_deltas=3)
"""Appends, and writes anew now and then: both ways in one trace."""
