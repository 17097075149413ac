"""Statements that Spark has analysed and optimised once, for all slices.

From slice to slice a statement is the same; the tables that it names are other files. So when one comes again, its
optimised plan is kept, by its text and the kinds of its tables, with a gap in the place of each table, and a
slice fills the gaps (decision 0021). What is left to do then is to choose how to execute it, which Spark does by
the sizes of the tables.

How a plan is executed depends on how much it reads (`ways.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock, RLock
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from caesura.operators.java import each_of, java, java_object
from caesura.operators.ways import Places, Way, Ways

_MOST = 1_000
"""Plans that are kept; those that were used last."""
_STATEMENTS = 10_000
"""Statements of which it is known that they came."""
_NAME = "_caesura_plans"
_MAKING = Lock()
_UNFILLED = "SELECT raise_error('a plan reads a table that was not given')"
_ALL = 1_000_000
"""Columns that are listed."""
_FILE = 64 * 1024
"""As many bytes are read in the time in which a file is opened."""

_EXCHANGED = {
    "LogicalRelation": ("relation", "catalogTable", "isStreaming", "stream"),
    "InMemoryRelation": (),
    "LogicalRDD": ("rdd", "stats"),
    "LocalRelation": ("data", "isStreaming", "stream"),
}
"""Leaves with rows: files, what is held in memory, what another statement gives, constants; and what one of them
has besides its columns."""


class Table:
    """A table that statements name, made when the first of them is run, in whatever thread."""

    def __init__(self, make: Callable[[], DataFrame], files: int = 0) -> None:
        """`files`: that are read to make it, if that is not what it is."""
        self._make = make
        self._files = files
        self._lock = RLock()
        self._frame: DataFrame | None = None
        self._known: _Known | None = None

    @property
    def frame(self) -> DataFrame:
        with self._lock:
            if self._frame is None:
                self._frame = self._make()
            return self._frame

    @property
    def known(self) -> _Known:
        with self._lock:
            if self._known is None:
                self._known = _Known(self.frame, self._files)
            return self._known

    def forget(self) -> None:
        """What is held of it in memory, if it was made."""
        with self._lock:
            if self._frame is not None:
                self._frame.unpersist()


@dataclass(frozen=True)
class _Leaf:
    """Several statements read it, and each call of Java takes a while, so it is looked at once, as far as somebody
    asks."""

    node: Any

    @cached_property
    def kind(self) -> str:
        return _class(self.node)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self.node, part)() for part in _EXCHANGED[self.kind])

    @cached_property
    def files(self) -> int:
        """Those that it reads, if it reads any."""
        if self.kind != "LogicalRelation" or _class(relation := self.node.relation()) != "HadoopFsRelation":
            return 0
        return len(relation.location().inputFiles())


@dataclass(frozen=True)
class _Known:
    """What Spark knows of a table. What is held in memory is one leaf; else it would be looked for by the whole
    plan. Leaves are exchanged."""

    frame: DataFrame
    files: int = 0
    """That are read to make it, besides those that it is."""

    @cached_property
    def plan(self) -> Any:
        return _with_memory(self.frame)

    @cached_property
    def leaves(self) -> tuple[_Leaf, ...]:
        return tuple(leaf for leaf in map(_Leaf, each_of(self.plan.collectLeaves())) if leaf.kind in _EXCHANGED)

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """Tables of one kind can take each other's place: the same columns, read by the same steps."""
        steps = "" if self.plan.children().isEmpty() else _steps(self.plan)
        return (self.frame._jdf.schema().json(), *(leaf.kind for leaf in self.leaves), steps)

    @cached_property
    def size(self) -> int:
        """To read it takes about as long as so many bytes in one file."""
        files = self.files + sum(leaf.files for leaf in self.leaves)
        return int(self.plan.stats().sizeInBytes()) + _FILE * files


@dataclass(frozen=True)
class _Gap:
    """Where a plan reads the leaf of a table, by its number."""

    table: str
    leaf: int
    node: Any
    columns: Any


@dataclass(frozen=True)
class _Kept:
    plan: Any
    gaps: tuple[_Gap, ...]


class _Shelf:
    """The plans of a Spark application: sessions of the same settings share them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, _Kept] = OrderedDict()
        self._came: set[object] = set()
        self._unfilled: list[Any] = []
        self.places = Places()
        self._lock = Lock()

    def unfilled(self, session: Any, number: int) -> list[Any]:
        """The rows of so many gaps, each other than the next: to read them is an error."""
        with self._lock:
            while len(self._unfilled) < number:
                self._unfilled.append(session.sql(_UNFILLED).queryExecution().toRdd())
            return self._unfilled[:number]

    def is_new(self, statement: object) -> bool:
        with self._lock:
            if statement in self._came:
                return False
            if len(self._came) >= _STATEMENTS:
                self._came.clear()
            self._came.add(statement)
            return True

    def get(self, key: object) -> _Kept | None:
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
            return kept

    def put(self, key: object, kept: _Kept) -> None:
        with self._lock:
            self._kept[key] = kept
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)


class Plans:
    """Of one session."""

    def __init__(self, spark: SparkSession, shelf: _Shelf) -> None:
        self._spark, self._shelf = spark, shelf
        self.ways = Ways(spark, shelf.places)
        self._session: Any = spark._jsparkSession
        self._zone = spark.conf.get("spark.sql.session.timeZone")
        self._naming = Lock()
        self._asked: dict[str, _Known] = {}
        self._parser = self._session.sessionState().sqlParser()
        self._rdds = java_object(spark, "org.apache.spark.sql.execution.LogicalRDD")
        self._scala = java(spark, "org.apache.spark.api.python.PythonUtils")
        self._options = java(spark, "scala.Option")
        self._maps = java(spark, "java.util.HashMap")
        self._nothing = self._options.empty()
        # So that the optimiser makes no filter of what one side of a join has, which would be a subquery.
        self._small = self._session.emptyDataFrame().queryExecution().optimizedPlan().stats()

    def frame(
        self, read: Iterable[Table | str], written: Callable[[bool], tuple[str, Mapping[str, Table | str]]]
    ) -> DataFrame:
        """The rows of a statement that reads these tables; a text is a query that gives constants. `written`: the
        statement, and what it calls them, by whether all of them are in one place. What comes once is not kept: to
        make gaps would take longer."""
        self.ways.begin()
        known = [self._known(each) for each in read]
        way = self.ways.by(sum(each.size for each in known))
        statement, named = written(way.in_place)
        tables = {name: self._known(each) for name, each in named.items()}
        if self._shelf.is_new((self._zone, statement)):
            plan = self._optimised(statement, {name: table.plan for name, table in tables.items()})
        else:
            key = (self._zone, statement, tuple(table.kind for table in tables.values()))
            kept = self._shelf.get(key)
            if kept is None:
                kept = self._with_gaps(statement, tables)
                self._shelf.put(key, kept)
            plan = self._filled(kept, tables)
        # Spark takes a join for the product of its tables; of little it is taken for the largest of them.
        largest = max(known, key=lambda each: each.size, default=None) if way.in_place else None
        return self._executed(plan, way, largest)

    def _known(self, table: Table | str) -> _Known:
        return self._constants(table) if isinstance(table, str) else table.known

    def _constants(self, query: str) -> _Known:
        """Statements of one slice ask for the same."""
        if (known := self._asked.get(query)) is None:
            if len(self._asked) > _MOST:
                self._asked.clear()
            known = self._asked[query] = _Known(self._analysed(query))
        return known

    def _optimised(self, statement: str, plans: Mapping[str, Any]) -> Any:
        with self._naming:  # names are of the session, and threads have other tables under the same
            for name, plan in plans.items():
                frame_of(self._spark, plan).createOrReplaceTempView(name)
            optimised = self._analysed(statement)._jdf.queryExecution().optimizedPlan()
            for name in plans:
                self._spark.catalog.dropTempView(name)
            return optimised

    def _analysed(self, statement: str) -> DataFrame:
        """As by `spark.sql`, which would read it twice, to find the parameters that it does not have."""
        return frame_of(self._spark, self._parser.parsePlan(statement))

    def _with_gaps(self, statement: str, tables: Mapping[str, _Known]) -> _Kept:
        """Over tables whose leaves are gaps. The optimiser cannot look into them: nothing of a slice may stay."""
        places = [(name, i) for name, table in tables.items() for i, _ in enumerate(table.leaves)]
        rows = dict(zip(places, self._shelf.unfilled(self._session, len(places)), strict=True))
        plans: dict[str, Any] = {}
        for name, table in tables.items():
            gaps = self._maps()
            for i, leaf in enumerate(table.leaves):
                gaps.put(leaf.node, self._leaf(leaf.node.output(), rows[name, i], self._small))
            plans[name] = self._exchanged(table.plan, gaps)
        plan = self._optimised(statement, plans)
        known = java(self._spark, "java.util.IdentityHashMap")()
        for at, place in enumerate(places):
            known.put(rows[place], at)
        found: list[_Gap] = []
        for part in (plan, *each_of(plan.subqueriesAll())):
            for leaf in each_of(part.collectLeaves()):
                if _class(leaf) == "LogicalRDD":  # perhaps a copy, with other columns
                    if (at := known.get(leaf.rdd())) is None:
                        raise LookupError("a statement reads a table that was not given")
                    name, i = places[at]
                    found.append(_Gap(name, i, leaf, leaf.output()))
        return _Kept(plan, tuple(found))

    def _filled(self, kept: _Kept, tables: Mapping[str, _Known]) -> Any:
        exchanged = self._maps()
        for gap in kept.gaps:
            exchanged.put(gap.node, self._with_output(tables[gap.table].leaves[gap.leaf], gap.columns))
        return self._exchanged(kept.plan, exchanged)

    def _exchanged(self, plan: Any, nodes: Any) -> Any:
        """Also in the subqueries that the optimiser makes of what is computed more than once."""
        return plan.transformDownWithSubqueries(self._scala.toScalaMap(nodes))

    def _with_output(self, leaf: _Leaf, output: Any) -> Any:
        """The same leaf, with columns that the rest of a plan knows."""
        match leaf.kind:
            case "LogicalRelation":
                relation, *rest = leaf.parts
                return leaf.node.copy(relation, output, *rest)
            case "InMemoryRelation":
                return leaf.node.withOutput(output)
            case "LogicalRDD":
                return self._leaf(output, *leaf.parts)
            case _:
                return leaf.node.copy(output, *leaf.parts)

    def _executed(self, plan: Any, way: Way, largest: _Known | None) -> DataFrame:
        """To Spark a leaf: whoever writes it, observes it or reads it again is planned in no time."""
        stats = plan.stats()
        if largest is not None and int(stats.sizeInBytes()) > largest.size:
            stats = largest.plan.stats()
        return frame_of(way.spark, self._leaf(plan.output(), self.ways.rows(plan, way), stats))

    def _leaf(self, output: Any, rows: Any, stats: Any) -> Any:
        rdds, nothing = self._rdds, self._nothing
        partitioning, ordering = getattr(rdds, "apply$default$3")(), getattr(rdds, "apply$default$4")()
        known = self._options.apply(stats)
        return rdds.apply(
            output, rows, partitioning, ordering, False, nothing, self._session, known, nothing, False
        )


def frame_of(spark: SparkSession, plan: Any) -> DataFrame:
    """The rows of a plan of Spark's."""
    datasets = java(spark, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(datasets.ofRows(spark._jsparkSession, plan), spark)


def _with_memory(frame: DataFrame) -> Any:
    """Its plan, in which what is held in memory is a leaf: Spark lets go of the plan of a view that is dropped."""
    return frame._jdf.queryExecution().withCachedData()


def _steps(plan: Any) -> str:
    """What is done to the rows of the leaves."""
    return str(plan.canonicalized().treeString(True, False, _ALL, False, False))


def _class(leaf: Any) -> str:
    return str(leaf.getClass().getSimpleName())


def plans_of(spark: SparkSession) -> Plans:
    """A session has them, as long as there is one, and an application the shelf."""
    of_session, of_context = vars(spark), vars(spark.sparkContext)
    with _MAKING:
        if _NAME not in of_session:
            of_session[_NAME] = Plans(spark, of_context.setdefault(_NAME, _Shelf()))
        plans: Plans = of_session[_NAME]
        return plans
