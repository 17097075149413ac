"""Starting a pipeline: checkpoint, tables, sinks, driver, and the one Structured Streaming query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from caesura import plan
from caesura.catalog import CompleteBy, Origin, Relation, Sink, Stream, Table, Values
from caesura.checkpoint.claim import Wish, claimed, keep_claim
from caesura.checkpoint.failpoints import victims
from caesura.checkpoint.lease import Lease
from caesura.checkpoint.manifest import MANIFESTS, last_manifest
from caesura.checkpoint.storage import LocalStorage, Storage
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.java import import_helper, java
from caesura.operators.rows import Rows, leaf
from caesura.planning.statistics import Statistics
from caesura.progress import Progress
from caesura.spark.apart import reaches
from caesura.spark.attempt import Assembly, Target
from caesura.spark.compile import Compiled, compile_plans
from caesura.spark.contract import Contract
from caesura.spark.evaluate import evaluate_static
from caesura.spark.inputs import Input, Inputs
from caesura.spark.purge import PurgePolicy
from caesura.spark.query import ContinuousQuery
from caesura.spark.reasons import SPARK_ERRORS, reason
from caesura.spark.sinks import STAGING, FileSink, FormatSink
from caesura.spark.slice import SliceDriver
from caesura.spark.sources import (
    adopted,
    conformed,
    is_file_format,
    open_stream,
    open_table,
    open_values,
    resolved,
)
from caesura.spark.state import StateFiles
from caesura.spark.storage import storage_at
from caesura.spark.targets import Show, Targets
from caesura.spark.traffic import origins
from caesura.spark.width import widen

_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ui.explainMode": "simple",  # a text is made of every plan, for a page that nobody may look at
    "spark.sql.execution.usePartitionEvaluator": "true",  # else each step's code is read for what it refers to
    "spark.sql.variable.substitute": "false",  # a value may contain ${…}, and is to stay as it is
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.analyzer.maxIterations": "1000",  # a wide stream's punctuations are a deep statement
    # An anti-join with a union is not to become a union of anti-joins, which doubles the plan.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin",
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "false",  # all of an interval is read
    "spark.sql.maxConcurrentOutputFileWriters": "64",  # one per state table, instead of sorting by table
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default, INT96, is slow
    # What Spark notes of slices that are long done: by default a hundred, each tenth with all files ever read.
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "1m",
    # Hadoop sets the mode of every local file by a process, which takes 12 ms (decision 0015): none for checksums.
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
_BROADCAST_BYTES = 64 * 1024 * 1024
_BROADCASTS = 64
"""So many tables at least that are sent to every task are to fit into the heap."""
_LOG_FILES = "spark.sql.streaming.checkpointFileManagerClass"


@dataclass(frozen=True)
class Settings:
    """How to run a pipeline."""

    folder: str | None = None
    """What relative locations are relative to."""
    checkpoint: str | None = None
    """Where progress and state live; without one they last as long as the process."""
    until_end: bool = False
    """Stop when the inputs are exhausted, and take that as the end of the streams."""
    interval: str | None = None
    """Time between slices, e.g. `10 seconds`; as fast as possible without one."""
    frames: Mapping[str, DataFrame] = field(default_factory=dict)
    """Relations that stand on a DataFrame, by name."""
    selects: Origin = field(default_factory=lambda: Origin("console"))
    """Where the rows of a bare SELECT go."""
    show: Show = lambda name, slice, rows, count: None
    report: Callable[[Progress], None] = lambda progress: None
    purge: PurgePolicy = field(default_factory=PurgePolicy)
    unbounded: tuple[str, ...] = ()
    """States that may grow for ever, to be named in every progress."""
    deliver: bool = True
    """Whether results go to their sinks, or nowhere."""
    every_order: bool = False
    """Let rows of joins go as soon as one of several orders of asking the other inputs allows it. It takes
    additional joins."""
    fewest_schemes: bool = False
    """Let rows of joins go by as few schemes of the other inputs as can be. It steers a new checkpoint."""
    every_rule: bool = False
    """Count what lets go of the rows of joins, by rule, and the open values of their columns. It takes additional
    joins."""
    statistics: Statistics = field(default_factory=Statistics)
    """What an earlier run has measured. It steers how a new checkpoint arranges its joins."""
    max_quarantined: float = 1.0
    """The part of what a stream brings in a slice that may be set aside; if it is more, the slice fails."""
    take_over: bool = False
    """Take the checkpoint and the sinks from whoever writes to them."""
    add_queries: bool = False
    """Let queries that the checkpoint does not have begin with the next slice."""


def start(spark: SparkSession, pipeline: plan.Pipeline, settings: Settings) -> ContinuousQuery:
    work = work_session(spark)
    scratch = None
    if settings.checkpoint == "":
        raise CaesuraError(Diagnostic(Code.CHECKPOINT, "the name of the checkpoint is empty"))
    if settings.checkpoint is None:
        scratch = TemporaryDirectory(prefix="caesura-", ignore_cleanup_errors=True)
    root = scratch.name if scratch is not None else str(settings.checkpoint)
    try:
        storage = storage_at(work, root)
    except OSError as error:
        raise _unusable(root, str(error)) from error
    if isinstance(storage, LocalStorage) and spark.conf.get(_LOG_FILES, None) is None:
        # The default starts a process to ask if a file is a link.
        package = "org.apache.spark.sql.execution.streaming.checkpointing"
        work.conf.set(_LOG_FILES, f"{package}.FileSystemBasedCheckpointFileManager")
    victims[:] = [lambda: int(java(spark, "java.lang.ProcessHandle").current().pid())]
    held = ExitStack()
    try:
        return _started(_Start(spark, work, pipeline, settings, storage, scratch, held))
    except (*SPARK_ERRORS, OSError) as error:
        held.close()
        raise _unusable(root, reason(error)) from error
    except BaseException:
        held.close()
        raise


def _unusable(root: str, why: str, *help: str) -> CaesuraError:
    what = f"the checkpoint `{root}` cannot be used"
    return CaesuraError(Diagnostic(Code.CHECKPOINT, what, because=(why,), help=help))


@dataclass(frozen=True)
class _Start:
    spark: SparkSession
    work: SparkSession
    pipeline: plan.Pipeline
    settings: Settings
    storage: Storage
    scratch: TemporaryDirectory[str] | None
    held: ExitStack
    """What is to be let go of at the end."""

    def lease(self, storage: Storage, what: str, *folder: str) -> Lease:
        lease = Lease.take(storage, what, *folder, anyway=self.settings.take_over)
        self.held.callback(lease.release)
        return lease


def _started(given: _Start) -> ContinuousQuery:
    spark, work, settings, storage = given.spark, given.work, given.settings, given.storage
    storage.make()
    mine = given.lease(storage, f"the checkpoint `{storage.root}`")
    last = last_manifest(storage)
    wish = Wish(
        _addressed(given.pipeline, settings.selects),
        settings.statistics,
        settings.fewest_schemes,
        settings.add_queries,
        last.slice + 1,
        last.ended,
    )
    claim, pipeline = claimed(storage, wish)
    queries = pipeline.queries
    compiled = compile_plans(
        tuple(query.plan for query in queries),
        every_order=settings.every_order,
        fewest_schemes=claim.fewest_schemes,
    )
    tables = _tables(work, _needed_tables(compiled, pipeline), settings)
    listings = {table.name: rows for table, rows in tables.items() if isinstance(table, Table)}
    contracts = {
        name: Contract(stream, compiled.stores[name], listings) for name, stream in compiled.streams.items()
    }
    remembered = (table for contract in contracts.values() for table in contract.tables)
    files = StateFiles(work, storage, (*compiled.tables, *remembered), settings.purge, mine.writer)
    query = ContinuousQuery(" ".join(each.name for each in queries), work, files, given.scratch, given.held)

    def report(progress: Progress) -> None:
        told = replace(progress, unbounded=settings.unbounded)
        query._record(told)
        settings.report(told)

    places = Targets(spark, storage, claim.mark, mine.writer, settings.folder, settings.show)
    nowhere = FormatSink(Origin("noop"), None)
    targets = tuple(Target(each, places.open(each) if settings.deliver else nowhere) for each in queries)
    inputs = Inputs(work, _inputs(work, compiled, settings))
    _require_apart(given, places, targets, compiled.streams.values())
    sinks = _sink_leases(given, places, targets)
    assembly = Assembly(
        work,
        compiled,
        targets,
        evaluate_static(work, compiled, tables),
        contracts,
        files,
        settings.every_rule,
        origins(compiled) if settings.every_rule else {},
        settings.max_quarantined,
    )
    driver = SliceDriver(assembly, storage, (mine, *sinks), last, report)
    driver.recover()
    keep_claim(storage, claim)
    storage.make(MANIFESTS)
    files.declare()
    trigger: dict[str, bool | str] = {"processingTime": settings.interval or "0 seconds"}
    if settings.until_end:
        trigger = {"availableNow": True}
    query._run(driver, inputs, trigger, end=settings.until_end or not inputs.inputs)
    return query


def _addressed(pipeline: plan.Pipeline, selects: Origin) -> plan.Pipeline:
    """With a place for the rows of a bare SELECT."""
    queries = (
        replace(query, sink=Sink(query.name, selects)) if query.kind == "select" else query
        for query in pipeline.queries
    )
    return replace(pipeline, queries=tuple(queries))


def _require_apart(given: _Start, places: Targets, targets: tuple[Target, ...], streams: Iterable[Stream]) -> None:
    checkpoint = given.storage.root
    sinks = {each.query: each.sink.storage.root for each in targets if isinstance(each.sink, FileSink)}
    taken = {f"`{query.name}` is written to `{root}`": root for query, root in sinks.items()}
    for stream in streams:
        origin = stream.origin
        if origin is None or origin.location is None or not is_file_format(origin.format):
            continue
        read = storage_at(given.work, resolved(origin.location, given.settings.folder)).root
        taken[f"`{stream.name}` is read from `{read}`"] = read
        for query, root in sinks.items():
            if reaches(read, root):
                why = f"`{stream.name}` is read from `{read}`, and would have the results as rows"
                raise places.refused(query, why, "write to a folder of its own")
    for why, root in taken.items():
        if reaches(root, checkpoint) or reaches(checkpoint, root):
            raise _unusable(checkpoint, why, "use a folder of its own")


def _sink_leases(given: _Start, places: Targets, targets: tuple[Target, ...]) -> list[Lease]:
    """On the folders that they write to, which others may write to as well."""
    leases: dict[str, Lease] = {}
    for target in targets:
        if isinstance(target.sink, FileSink) and (root := target.sink.storage.root) not in leases:
            try:
                leases[root] = given.lease(target.sink.storage, f"the sink `{root}`", STAGING)
            except OSError as error:
                raise places.refused(target.query, str(error)) from error
    return list(leases.values())


def work_session(spark: SparkSession) -> SparkSession:
    """A session of Caesura's own, so that its settings are not the user's.

    Adaptive execution is off: it plans stage by stage, which costs a slice more than it gains, since the sizes of
    slices and state tables are known from their files.
    """
    import_helper(spark)
    session = spark.newSession()
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    widen(session, None)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", str(_broadcast_bytes(spark)))
    # A time without a zone means the same in rows, which the user's session may read, and in punctuations.
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    session.conf.set("spark.sql.session.timeZone", zone)
    return session


def _broadcast_bytes(spark: SparkSession) -> int:
    """The default of 10 MB sends the small side of a join through a shuffle long before it has to. But a table is
    several times larger in memory than its files, and a slice may send several at a time."""
    heap = int(java(spark, "java.lang.Runtime").getRuntime().maxMemory())
    return min(_BROADCAST_BYTES, heap // _BROADCASTS)


def _needed_tables(compiled: Compiled, pipeline: plan.Pipeline) -> tuple[Table | Values, ...]:
    """Those that queries read, and those that COMPLETE BY names."""
    promises = (promise for stream in compiled.streams.values() for promise in stream.promises)
    listing = (pipeline.catalog[each.table] for each in promises if isinstance(each, CompleteBy))
    listed = (table for table in listing if isinstance(table, Table))
    return tuple(dict.fromkeys((*compiled.static_tables, *listed)))


def _tables(spark: SparkSession, needed: tuple[Table | Values, ...], settings: Settings) -> dict[Relation, Rows]:
    tables: dict[Relation, Rows] = {}
    for table in needed:
        frame = _table(spark, table, settings).persist(StorageLevel.MEMORY_AND_DISK)
        tables[table] = leaf(frame)
    return tables


def _table(spark: SparkSession, table: Table | Values, settings: Settings) -> DataFrame:
    if isinstance(table, Values):
        return open_values(spark, table)
    given = settings.frames.get(table.name)
    if given is None:
        return open_table(spark, table, settings.folder)
    return adopted(conformed(given, table), spark)


def _inputs(spark: SparkSession, compiled: Compiled, settings: Settings) -> dict[str, Input]:
    inputs: dict[str, Input] = {}
    for name, stream in compiled.streams.items():
        given = settings.frames.get(name)
        inputs[name] = Input(stream, open_stream(spark, stream, settings.folder) if given is None else given)
    return inputs
