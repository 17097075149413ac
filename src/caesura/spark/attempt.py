"""One try at a slice: everything but its commit.

A slice takes three kinds of Spark jobs: one that surveys the input, then, side by side, one per query that writes
its result rows, and one that writes all changes of all state tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from types import TracebackType

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Stream
from caesura.checkpoint.failpoints import reach
from caesura.checkpoint.manifest import Manifest, Promised, Result
from caesura.diagnostics import CaesuraError
from caesura.operators.closed import Closed
from caesura.operators.join import Join
from caesura.operators.operator import Changes, Flow
from caesura.operators.released import Count, counts
from caesura.operators.rows import Rows
from caesura.operators.together import side_by_side, workers
from caesura.spark.arrivals import Arrivals
from caesura.spark.compile import Compiled
from caesura.spark.contract import Contract, Source
from caesura.spark.evaluate import evaluate, forgotten, rows_alone
from caesura.spark.idle import caught_up
from caesura.spark.inputs import Brought
from caesura.spark.laps import Laps
from caesura.spark.quarantine import Aside, added, more_examples, require_kept, too_many
from caesura.spark.sinks import ResultSink
from caesura.spark.state import StateFiles, Written
from caesura.spark.survey import Survey, survey
from caesura.spark.traffic import Origins, sent, stored
from caesura.spark.width import widen


@dataclass(frozen=True)
class Target:
    """A query that runs, and where its rows go."""

    query: plan.Query
    sink: ResultSink


@dataclass(frozen=True)
class Assembly:
    """A pipeline, put together to be run."""

    spark: SparkSession
    compiled: Compiled
    targets: tuple[Target, ...]
    static: Mapping[plan.Plan, Rows]
    """What never changes."""
    contracts: Mapping[str, Contract]
    files: StateFiles
    every_rule: bool
    """Whether all that lets go of rows is counted."""
    origins: Origins
    """The columns in state whose different values are counted."""
    max_quarantined: float = 1.0
    """The part of a stream's slice that may be set aside."""

    def discard(self, number: int) -> None:
        """Take back the results of a slice that is not committed."""
        for target in self.targets:
            target.sink.discard(number)


@dataclass(frozen=True)
class Batch:
    """A micro-batch: what each stream brings, None for the one that ends them; its number, and when it came."""

    parts: Mapping[str, Brought] | None
    number: int
    time: int


@dataclass(frozen=True)
class Done:
    """A slice that is ready to be committed."""

    manifest: Manifest
    surveys: Mapping[str, Survey]
    written: Written


@dataclass(frozen=True)
class _Planned:
    flows: Mapping[plan.Plan, Flow]
    changes: Changes
    sources: Mapping[str, Source]
    aside: tuple[Aside, ...]
    counted: tuple[Count, ...]


class Attempt:
    """A context, at whose end no job is left running."""

    def __init__(
        self, assembly: Assembly, before: Manifest, last: Mapping[str, Survey], batch: Batch, laps: Laps
    ) -> None:
        """`before` is the last committed manifest, `last` what its slice brought."""
        self._assembly, self._before, self._last, self._batch, self._laps = assembly, before, last, batch, laps
        self._state = assembly.files.open(before.tables, sum(each.arrived for each in last.values()))
        self._pasts = {
            name: contract.past(self._state, before.promised.get(name, Promised()), batch.time)
            for name, contract in assembly.contracts.items()
        }
        self._arrivals = {
            name: Arrivals(assembly.contracts[name], brought, self._pasts[name], self._state)
            for name, brought in (batch.parts or {}).items()
        }
        self._pool = workers(assembly.spark)
        self._early: Future[dict[str, Result]] | None = None

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._take_back()
        finally:
            self._pool.shutdown()
            self._state.forget()

    def run(self) -> Done:
        """What the survey finds steers the rest. Results in which no punctuation has a say are written beside."""
        self._widen(self._last)
        self._early = self._results_at_once()
        surveys = survey(self._assembly.spark, self._arrivals, self._last)
        self._widen(surveys or self._last)
        if any(each.broken for each in surveys.values()):
            self._take_back()
        self._laps.end("survey")
        planned = self._planned(surveys)
        state = self._pool.submit(self._write_state, planned, sum(each.rows for each in surveys.values()))
        if not self._repeatable:
            self._require_few_aside(surveys, state.result())
        output = self._staged(planned.flows) if self._early is None else self._early.result()
        self._laps.end("results")
        written = state.result()
        self._laps.end("state")
        return self._done(planned, surveys, output, written)

    @property
    def _repeatable(self) -> bool:
        """Whether results can be taken back."""
        return all(target.sink.repeatable for target in self._assembly.targets)

    def _widen(self, surveys: Mapping[str, Survey]) -> None:
        """For the rows in state and these: those of the last slice, until it is known what this one brings."""
        state = sum(version.rows for version in self._before.tables.values())
        rows = state + sum(each.rows for each in surveys.values())
        widen(self._assembly.spark, rows if surveys else None)

    def _results_at_once(self) -> Future[dict[str, Result]] | None:
        """Write the results before anything is known of the slice, as if no row broke the contract: if they do not
        depend on what the slice closes, and can be taken back."""
        operators = self._assembly.compiled.operators.items()
        prompt = all(each.prompt for node, each in operators if node not in self._assembly.static)
        unlikely = any(each.broken for each in self._last.values())
        if unlikely or not prompt or not self._repeatable:
            return None
        unchecked = {name: each.unchecked() for name, each in self._arrivals.items()}
        try:
            flows = rows_alone(self._assembly.compiled, self._state, self._leaves(unchecked))
        except (PySparkException, Py4JError):  # of what is computed to plan by; perhaps of a row that is set aside
            self._state.forget()
            return None
        return self._pool.submit(self._staged, flows)

    def _take_back(self) -> None:
        if self._early is not None:
            wait((self._early,))
            self._assembly.discard(self._batch.number)
            self._state.forget()
            self._early = None

    def _planned(self, surveys: Mapping[str, Survey]) -> _Planned:
        compiled, ends = self._assembly.compiled, self._batch.parts is None
        aside = [each for name, found in surveys.items() for each in self._arrivals[name].set_aside(found)]
        require_kept(self._assembly.spark, compiled.streams.values(), aside, self._batch.number)
        sources = {
            name: self._arrivals[name].source(surveys[name])
            if name in self._arrivals
            else contract.silent(self._state, self._pasts[name], end=ends)
            for name, contract in self._assembly.contracts.items()
        }
        if not ends:
            sources = caught_up(self._assembly.contracts, sources, self._batch.time)
        leaves = self._leaves({name: source.flow for name, source in sources.items()})
        flows, changes = evaluate(compiled, self._state, leaves)
        for source in sources.values():
            changes |= source.changes
        changes |= forgotten(compiled, self._state, flows, changes)
        self._laps.end("plan")
        return _Planned(flows, changes, sources, tuple(aside), tuple(self._counted(flows)))

    def _leaves(self, streams: Mapping[str, Flow]) -> dict[plan.Plan, Flow]:
        """A relation that never changes is known as a whole; to whoever takes it for a stream, all of it comes in
        their first slice."""
        ended = Closed(everything=True)
        leaves: dict[plan.Plan, Flow] = {
            node: Flow(rows, ended, finite=rows)
            if self._before.slice < plan.since(node)
            else Flow(before=ended, finite=rows)
            for node, rows in self._assembly.static.items()
        }
        for node in self._assembly.compiled.nodes:
            if isinstance(node, plan.Scan) and isinstance(node.relation, Stream):
                flow = streams.get(node.relation.name, Flow())
                names = {column.name: f"{node.alias}.{column.name}" for column in node.relation.columns}
                rows = None if flow.rows is None else flow.rows.renamed(names)
                leaves[node] = Flow(rows, flow.new.renamed(names), flow.before.renamed(names))
        return leaves

    def _staged(self, flows: Mapping[plan.Plan, Flow]) -> dict[str, Result]:
        """Write the queries' result rows aside."""
        spark, targets, ends = self._assembly.spark, self._assembly.targets, self._batch.parts is None

        def staged(target: Target) -> Result:
            rows = flows[target.query.plan].rows
            if rows is None:
                return Result()
            return target.sink.stage(self._batch.number, rows.frame(spark), ends=ends)

        results = side_by_side(spark, staged, targets)
        reach("results staged")
        return {target.query.name: result for target, result in zip(targets, results, strict=True)}

    def _write_state(self, planned: _Planned, arrived: int) -> Written:
        largest = max((version.rows for version in self._before.tables.values()), default=0) + arrived
        files, origins = self._assembly.files, self._assembly.origins
        changes = planned.changes, planned.aside, planned.counted
        written = files.write(self._batch.number, *changes, origins, largest)
        reach("state written")
        return written

    def _counted(self, flows: Mapping[plan.Plan, Flow]) -> Iterator[Count]:
        """What lets go of the rows of joins, as far as it is to be counted."""
        compiled = self._assembly.compiled
        for node, join in compiled.operators.items():
            if isinstance(join, Join):
                inputs = compiled.inputs(node, flows)
                yield from counts(join, self._state, inputs, flows[node].new, every_rule=self._assembly.every_rule)

    def _require_few_aside(self, surveys: Mapping[str, Survey], written: Written) -> None:
        most, streams = self._assembly.max_quarantined, self._assembly.compiled.streams
        counted = {name: sum(reasons.values()) for name, reasons in written.quarantined.items()}
        broken = [
            too_many(streams[name], self._batch.number, n, arrived, written.examples.get(name, {}), most)
            for name, n in counted.items()
            if n > most * (arrived := surveys[name].arrived)
        ]
        if broken:
            raise CaesuraError(*broken)

    def _done(
        self, planned: _Planned, surveys: Mapping[str, Survey], output: dict[str, Result], written: Written
    ) -> Done:
        batch, before = self._batch, self._before
        self._require_few_aside(surveys, written)
        seen = sent(before.seen, self._assembly.contracts, surveys, batch.time)
        manifest = Manifest(
            slice=batch.number,
            tables=self._assembly.files.versions(before.tables, planned.changes, batch.number, written),
            promised={name: source.promised for name, source in planned.sources.items()},
            quarantined=added(before.quarantined, written.quarantined),
            released=added(before.released, written.released),
            seen=stored(seen, self._assembly.origins, written.open),
            writer=self._assembly.files.writer,
            aside=self._assembly.files.aside(before, batch.number, written),
            ended=batch.parts is None,
            results=output,
            examples=more_examples(before.examples, written.examples),
        )
        return Done(manifest, surveys, written)
