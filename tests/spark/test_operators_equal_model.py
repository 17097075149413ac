"""The operators on Spark do what the model does, slice by slice: rows out, punctuations passed on, rows kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from caesura import plan
from caesura.catalog import Column, PunctuatedBy
from caesura.model import operator as model
from caesura.model.aggregates import result
from caesura.model.distinct import Distinct
from caesura.model.group import Group, came
from caesura.model.join import Join, hops
from caesura.model.operator import Row
from caesura.model.project import Project
from caesura.model.select import Select
from caesura.operators import distinct as distinct_on_spark
from caesura.operators import group as group_on_spark
from caesura.operators import join as join_on_spark
from caesura.operators.closed import NOTHING, Closed, covered
from caesura.operators.operator import Change, Flow, State
from caesura.operators.rows import Rows, quote, text, union, view
from caesura.plan import Aggregate
from caesura.punctuation import EVERYTHING, Constant, Listed, Punctuation, Range, confined, set_match
from caesura.punctuation_json import read, write
from caesura.spark import punctuations
from caesura.spark.aggregates import partial_of
from caesura.spark.compile import compile_plans
from caesura.spark.evaluate import evaluate
from caesura.spark.manifest import TableVersion
from caesura.spark.run import work_session
from caesura.spark.state import PurgePolicy, StateFiles
from caesura.spark.storage import Storage
from caesura.types import BIGINT, Type
from tests.plans import join, project, scan, stream, where

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
    root: plan.Plan
    policy: PurgePolicy
    versions: dict[str, TableVersion] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    held: dict[str, list[Row]] = field(default_factory=dict)
    slices: int = 0

    def __post_init__(self) -> None:
        self.compiled = compile_plans((self.root,))
        storage = Storage(self.spark, str(self.folder))
        self.files = StateFiles(self.spark, storage, self.compiled.tables, self.policy)

    def run(self, arrivals: Mapping[str, model.Slice], probes: Mapping[plan.Plan, Rows]) -> list[Seen]:
        """One slice; what each node of `probes` gave its readers."""
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
        found = self._collected(tables)
        written = self.files.write(self.slices, changes)
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
        return view(frame, f"rows of {node.alias}")

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
        parsed = reader.parse(view(texts, f"texts of {node.alias}"), "text").frame(self.spark).localCheckpoint()
        closed = reader.closed(view(parsed, f"punctuations of {node.alias}"), counts)
        return closed.mapped(lambda rows, what: state.share(f"{node.alias}: {what}", rows))

    def _collected(self, tables: Mapping[str, Rows | None]) -> dict[str, list[Row]]:
        """The rows of several tables by one query, as JSON."""
        found: dict[str, list[Row]] = {name: [] for name in tables}
        tagged = union(
            rows.project({"name": text(name), "row": _json(rows)})
            for name, rows in tables.items()
            if rows is not None
        )
        for name, row in tagged.frame(self.spark).collect() if tagged is not None else ():
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


def model_of(node: plan.Plan, compiled: join_on_spark.Join | None = None) -> model.Operator:
    match node:
        case plan.Filter():
            return Select(lambda row: None if row["b.price"] is None else row["b.price"] > 10)  # type: ignore[operator]
        case plan.Project():
            return Project(tuple((output.name, str(output.expr.column)) for output in node.outputs))
        case plan.Join():
            assert compiled is not None
            columns = [[column.name for column in below.columns] for below in node.inputs]
            orders = [[hop.input for hop in side.purge or ()] for side in compiled.sides]
            return Join(tuple(map(tuple, columns)), node.equalities, hops(columns, node.equalities, orders))
        case plan.Group():
            return Group(node.keys, node.aggregates)
        case plan.Distinct():
            return Distinct()
        case _:
            raise ValueError(f"there is no model of {type(node).__name__}")


def compare(
    spark: SparkSession, folder: Path, root: plan.Plan, policy: PurgePolicy, trace: Trace, values: str
) -> None:
    """`values` are those that the probes for punctuations take in each column; `-` is NULL."""
    session = work_session(spark)
    on_spark = OnSpark(session, folder, root, policy)
    scans = [node for node in on_spark.compiled.nodes if isinstance(node, plan.Scan)]
    nodes = [node for node in on_spark.compiled.nodes if not isinstance(node, plan.Scan)]
    arrivals = [{s.relation.name: of_stream(s, slice.get(s.relation.name, ())) for s in scans} for slice in trace]
    asked: dict[plan.Plan, tuple[str, ...]] = {node: asked_columns(on_spark, node, root) for node in nodes}
    domain = [None if each == "-" else int(each) for each in values.split()]
    rows: dict[plan.Plan, list[Row]] = {
        node: [Row.of(dict(zip(names, each, strict=True))) for each in product(domain, repeat=len(names))]
        for node, names in asked.items()
    }
    probes: dict[plan.Plan, Rows] = {
        node: view(
            table(session, asked[node], [[row[name] for name in asked[node]] for row in rows[node]]),
            f"probe {nodes.index(node)}",
        )
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
            where = f"slice {number}, {type(node).__name__}"
            wanted = outputs[node][number]
            assert found.rows == sorted(wanted.rows, key=repr), where
            if not on_spark.asks(node):
                continue
            seen[node] |= found.passed
            so_far[node] |= {p for p in wanted.punctuations if confined(p, asked[node])}
            assert seen[node] == {row for row in rows[node] if set_match(row, so_far[node])}, where
        for node in probes:
            compare_kept(on_spark, node, outputs[node][number], number)


def asked_columns(on_spark: OnSpark, node: plan.Plan, root: plan.Plan) -> tuple[str, ...]:
    """The columns on which punctuations of the node are of use to its reader."""
    if node is root:
        return node.keys if isinstance(node, plan.Group) else tuple(column.name for column in node.columns)
    reader = next(other for other in on_spark.compiled.nodes if node in plan.inputs(other))
    wanted = asked_columns(on_spark, reader, root)
    if isinstance(reader, plan.Project):
        return tuple(old for old, new in reader.copies.items() if set(new) & set(wanted))
    return wanted


def compare_kept(on_spark: OnSpark, node: plan.Plan, wanted: model.Output, number: int) -> None:
    match on_spark.compiled.operators[node]:
        case join_on_spark.Join(sides=sides):
            tables = [(side.table.name, list(rows)) for side, rows in zip(sides, wanted.kept, strict=True)]
        case distinct_on_spark.Distinct(table=table):
            tables = [(table.name, list(wanted.kept[0]))]
        case group_on_spark.Group(table=table):
            assert isinstance(node, plan.Group)
            tables = [(table.name, [partial(node, row) for row in wanted.kept[0]])]
        case _:
            return
    for name, rows in tables:
        held, exactly = on_spark.kept(name)
        if exactly:
            assert held == sorted(rows, key=repr), f"slice {number}, {name}"
        elif isinstance(node, plan.Join):
            assert all(row in held for row in rows), f"slice {number}, {name}"


def partial(node: plan.Group, row: Row) -> Row:
    """What Spark keeps for what came: the result so far, or sum and count of an average."""
    cells: dict[str, object] = {key: row[key] for key in node.keys}
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
A = stream("a", "id x", PunctuatedBy(("id",)), PunctuatedBy(("x",)))
B = stream("b", "auction bidder price", PunctuatedBy(("auction",)), PunctuatedBy(("auction", "bidder")))


def grouped(below: plan.Plan, *keys: str, of: str) -> plan.Group:
    functions = {
        "n": "COUNT",
        "total": "SUM",
        "least": "MIN",
        "most": "MAX",
        "mean": "AVG",
        "given": "COUNT",
    }
    aggregates = tuple(
        Aggregate(
            Column(name, Type("DOUBLE") if name == "mean" else BIGINT), function, () if name == "n" else (of,)
        )
        for name, function in functions.items()
    )
    return plan.Group(below, keys, aggregates)


def test_a_join_and_a_group_over_it(spark: SparkSession, tmp_path: Path) -> None:
    root = grouped(join(scan(A), scan(B), on="a.id = b.auction"), "a.id", "b.bidder", of="b.price")
    trace: Trace = [
        {
            "a": [(1, 1), (2, 1), (3, 2), (None, 1), (1, 9), (1, None)],
            "b": [(1, 7, 10), (4, 7, 11), (None, 7, 1), (1, None, None), '{"auction": 5}', '{"auction": []}'],
        },
        {  # closed by its partner before it comes (5); rows and their punctuation in one slice (1)
            "a": [(4, 2), (5, 3), '{"id": 1}'],
            "b": [
                *[(2, 8, 12), (1, 8, 13)],
                *['{"auction": [1, 3]}', '{"auction": {"ge": 10, "lt": 20}}', '{"auction": 2, "bidder": [8, 9]}'],
            ],
        },
        {"a": [(12, 1), (2, 5), (2, 5), '{"id": {"le": 4}}', '{"x": 1}'], "b": [(4, 9, 14), (2, 1, 15)]},
        {"a": [(30, 2)], "b": [(30, 1, 1), '{"auction": {"lt": 3}}', '{"bidder": 7}', '{"price": {"gt": 0}}']},
        {"a": ["{}"], "b": [(40, 1, None)]},
        {"b": ["{}"]},
    ]
    compare(spark, tmp_path, root, LAZY, trace, "- 1 2 3 4 5 7 8 9 12 30")


def test_a_group_over_a_projection_over_a_selection(spark: SparkSession, tmp_path: Path) -> None:
    kept = project(where(scan(B), "b.price > 10"), k="b.auction", who="b.bidder", price="b.price")
    root = grouped(kept, "k", "who", of="price")
    trace: Trace = [
        {
            "b": [
                (1, 1, 11),
                (1, 1, 5),
                (1, 1, 13),
                (2, 1, 12),
                (None, 1, 20),
                (None, 1, 22),
                (3, None, 30),
                (4, 4, None),
            ]
        },
        {
            "b": [
                (1, 1, 11),
                (2, 2, 40),
                '{"auction": 1}',
                '{"auction": 2, "bidder": 1}',
                '{"price": 12}',
                '{"bidder": 9}',
            ]
        },
        {"b": [(2, 2, 50), (5, 5, 60), '{"auction": {"gt": 2, "lt": 5}}', '{"auction": 2, "bidder": {"le": 1}}']},
        {
            "b": [
                (2, 2, 60),
                (6, 6, 11),
                '{"auction": [5, 2]}',
                '{"auction": [6, 7], "bidder": [6, 7], "price": 1}',
            ]
        },
        {"b": [(None, None, 17), (6, 6, 12), '{"auction": {"ge": 0}}']},
        {"b": [(None, 3, 18), "{}"]},
    ]
    compare(spark, tmp_path, root, LAZY, trace, "- 1 2 3 4 5 6 7 9")


def test_a_distinct(spark: SparkSession, tmp_path: Path) -> None:
    root = plan.Distinct(project(where(scan(B), "b.price > 10"), k="b.auction", who="b.bidder", price="b.price"))
    trace: Trace = [
        {"b": [(1, 1, 11), (1, 1, 11), (1, 2, 11), (2, 1, 5), (None, 1, 12), (3, None, 12), (3, None, 12)]},
        {
            "b": [
                (1, 1, 11),
                (None, 1, 12),
                (4, 4, 40),
                (4, 4, 40),
                '{"auction": 1}',
                '{"auction": 4, "bidder": 4}',
            ]
        },
        {
            "b": [
                (3, None, 12),
                (2, 2, 20),
                '{"auction": {"gt": 2, "lt": 5}}',
                '{"price": 20}',
                '{"bidder": [7, 8]}',
            ]
        },
        {"b": [(2, 3, 21), (None, 1, 12), '{"auction": 2, "bidder": {"le": 3}, "price": {"ge": 21}}']},
        {"b": [(6, 6, 60), "{}"]},
    ]
    compare(spark, tmp_path, root, LAZY, trace, "- 1 2 3 4 6 11 12 20 21 40")


def test_a_join_on_two_columns_that_must_equal_one(spark: SparkSession, tmp_path: Path) -> None:
    both = join(scan(A), scan(B), on="a.id = b.auction, a.id = b.bidder")
    root = grouped(both, "a.id", of="b.price")
    trace: Trace = [
        {
            "a": [(1, 1), (2, 2), (3, 3)],
            "b": [(1, 1, 5), (2, 2, 7), (1, 2, 6), '{"auction": 1, "bidder": [1, 2]}'],
        },
        {"b": [(2, 2, 8), '{"auction": 2}', '{"auction": 3, "bidder": 4}']},
        {"a": ['{"id": {"ge": 2}}'], "b": [(3, 3, 9), '{"bidder": 3}', '{"auction": {"lt": 9}, "bidder": 5}']},
        {"a": ["{}"], "b": ["{}"]},
    ]
    compare(spark, tmp_path, root, PurgePolicy(), trace, "- 1 2 3 4 5")


def test_a_join_of_three_streams_purges_along_a_chain(spark: SparkSession, tmp_path: Path) -> None:
    bids = stream("b", "auction bidder", PunctuatedBy(("auction",)), PunctuatedBy(("bidder",)))
    person = stream("p", "id city", PunctuatedBy(("id",)))
    three = join(scan(A), scan(bids), scan(person), on="a.id = b.auction, b.bidder = p.id")
    root = grouped(three, "a.id", "p.id", of="p.city")
    trace: Trace = [
        {"a": [(1, 1), (2, 2)], "b": [(1, 7), (1, 8), (3, 7), '{"auction": 2}'], "p": [(7, 70), (9, 90)]},
        {"a": [(3, 3), '{"id": [1, 2]}'], "b": [(4, 9), '{"auction": 1}'], "p": ['{"id": 7}']},
        {"a": ['{"id": 3}'], "b": ['{"auction": 3}', '{"bidder": 7}'], "p": [(8, 80), (8, 81)]},
        {"a": [(4, 4)], "b": ['{"bidder": {"ge": 8}}'], "p": ['{"id": 8}']},
        {"a": ["{}"], "b": ["{}"], "p": ["{}"]},
    ]
    compare(spark, tmp_path, root, PurgePolicy(), trace, "- 1 2 3 4 7 8 9")
