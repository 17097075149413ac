"""The slice driver: one micro-batch in, one atomic commit out.

A slice takes three kinds of Spark jobs: one survey of the input, one per query that writes its result rows, and
one that writes all changes of all state tables. The manifest, written last, makes them visible together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter

from pyspark.sql import DataFrame, Observation
from pyspark.sql.functions import expr

from caesura import plan
from caesura.operators.closed import NOTHING, Closed
from caesura.operators.frames import Frame, rename, union
from caesura.operators.operator import Flow, State
from caesura.progress import Progress
from caesura.spark.compile import Compiled
from caesura.spark.contract import Arrivals, Contract
from caesura.spark.evaluate import evaluate
from caesura.spark.manifest import Manifest, Promised, commit
from caesura.spark.sinks import ResultSink
from caesura.spark.state import QUARANTINE, StateFiles, Written
from caesura.spark.storage import Storage
from caesura.spark.survey import Survey, survey


@dataclass(frozen=True)
class Target:
    """A query that runs, and where its rows go."""

    query: plan.Query
    sink: ResultSink


class SliceDriver:
    """Runs slices, each against the last committed manifest, which it alone replaces."""

    def __init__(
        self,
        compiled: Compiled,
        targets: tuple[Target, ...],
        static: Mapping[plan.Plan, DataFrame],
        storage: Storage,
        files: StateFiles,
        manifest: Manifest,
        report: Callable[[Progress], None],
    ) -> None:
        self._compiled = compiled
        self._targets = targets
        self._static = static
        self._storage = storage
        self._files = files
        self._report = report
        self._contracts = {
            name: Contract(stream, compiled.stores[name]) for name, stream in compiled.streams.items()
        }
        self.manifest = manifest

    def recover(self) -> None:
        """Deliver the last committed slice again, in case the process died between its commit and that."""
        if self.manifest.slice >= 0:
            for target in self._targets:
                target.sink.publish(self.manifest.slice, None)

    def run(self, parts: Mapping[str, Frame], number: int) -> None:
        """One micro-batch. Spark sends a batch again after a crash; one that was committed is done."""
        if number > self.manifest.slice:
            self._slice(parts, number)

    def end(self) -> None:
        """The inputs are exhausted and that is their end: the punctuation that matches everything."""
        if not self.manifest.ended:
            self._slice(None, self.manifest.slice + 1)

    def _slice(self, parts: Mapping[str, Frame] | None, number: int) -> None:
        """`parts` is what each stream brings, None for the slice that ends them."""
        clock = _Clock()
        state = self._files.open(self.manifest.tables)
        try:
            arrivals = self._arrivals(parts or {}, state)
            surveys = survey(arrivals)
            clock.lap("survey")
            end = Closed(everything=True) if parts is None else NOTHING
            sources = self._sources(arrivals, surveys, state, end)
            flows, changes = evaluate(self._compiled, state, self._leaves(sources))
            for name, flow in sources.items():
                tables_only = Closed(flow.new.points, flow.new.boxes)  # the rest is in the manifest
                changes |= self._compiled.stores[name].append(state, tables_only)
            quarantine = union(arrivals[name].quarantine(survey) for name, survey in surveys.items())
            clock.lap("plan")
            # Results and state do not need each other: while one job is being planned, the other runs.
            with ThreadPoolExecutor(max_workers=1) as pool:
                state_job = pool.submit(self._files.write, number, changes, quarantine)
                output = {target.query.name: self._stage(target, flows, number) for target in self._targets}
                clock.lap("results")
                written = state_job.result()
            quarantined = written.get(QUARANTINE.name, Written()).rows
            clock.lap("state")
        finally:
            state.forget()
        self._commit(
            Manifest(
                slice=number,
                tables=self._files.versions(self.manifest.tables, changes, number, written),
                promised={name: self._promised_after(name, flow, surveys) for name, flow in sources.items()},
                quarantined=self.manifest.quarantined + quarantined,
                ended=parts is None,
            ),
            output,
        )
        clock.lap("commit")
        self._report(self._progress(surveys, output, quarantined, clock))

    def _arrivals(self, parts: Mapping[str, Frame], state: State) -> dict[str, Arrivals]:
        return {
            name: self._contracts[name].arrivals(rows, state, self._promised(name))
            for name, rows in parts.items()
            if rows is not None
        }

    def _promised(self, name: str) -> Promised:
        return self.manifest.promised.get(name, Promised())

    def _promised_after(self, name: str, flow: Flow, surveys: Mapping[str, Survey]) -> Promised:
        bounds = {**self._promised(name).bounds, **surveys.get(name, Survey()).bounds}
        return Promised(bounds, flow.closed.everything)

    def _sources(
        self, arrivals: Mapping[str, Arrivals], surveys: Mapping[str, Survey], state: State, end: Closed
    ) -> dict[str, Flow]:
        """What each stream brings; `end` is what a stream says that brings nothing and has not ended before."""
        flows: dict[str, Flow] = {}
        for name, contract in self._contracts.items():
            before = contract.before(state, self._promised(name))
            if name in arrivals:
                rows = arrivals[name].rows(surveys[name])
                flows[name] = Flow(rows, arrivals[name].closed(surveys[name], rows, state), before)
            else:
                flows[name] = Flow(new=NOTHING if before.everything else end, before=before)
        return flows

    def _leaves(self, sources: Mapping[str, Flow]) -> dict[plan.Plan, Flow]:
        leaves: dict[plan.Plan, Flow] = {node: Flow(finite=rows) for node, rows in self._static.items()}
        for node in self._compiled.nodes:
            if isinstance(node, plan.Scan) and node.relation.name in sources:
                flow = sources[node.relation.name]
                names = {column.name: f"{node.alias}.{column.name}" for column in node.relation.columns}
                rows = None if flow.rows is None else rename(flow.rows, names)
                leaves[node] = Flow(rows, flow.new.renamed(names), flow.before.renamed(names))
        return leaves

    def _stage(self, target: Target, flows: Mapping[plan.Plan, Flow], number: int) -> int:
        """Write a query's result rows aside; how many they are. A query over tables alone gives all at once."""
        flow = flows[target.query.plan]
        rows = flow.rows if self.manifest.slice >= 0 or flow.finite is None else flow.finite
        if rows is None:
            return 0
        counted = Observation()
        target.sink.stage(number, rows.observe(counted, expr("count(*) AS n")))
        return int(counted.get["n"])

    def _commit(self, manifest: Manifest, output: Mapping[str, int]) -> None:
        before, self.manifest = self.manifest, manifest
        commit(self._storage, manifest)
        for target in self._targets:
            target.sink.publish(manifest.slice, output[target.query.name])
        self._files.collect_garbage(before.tables, manifest.tables)

    def _progress(
        self, surveys: Mapping[str, Survey], output: Mapping[str, int], quarantined: int, clock: _Clock
    ) -> Progress:
        state = {name: version.rows for name, version in self.manifest.tables.items()}
        holds = {table.name: table.holds for table in self._compiled.tables}
        return Progress(
            slice=self.manifest.slice,
            rows_in=sum(survey.rows for survey in surveys.values()),
            rows_out=sum(output.values()),
            punctuations=sum(survey.punctuations for survey in surveys.values()),
            quarantined=quarantined,
            quarantined_total=self.manifest.quarantined,
            state_rows=sum(n for name, n in state.items() if holds[name] == "rows"),
            punctuation_rows=sum(n for name, n in state.items() if holds[name] == "punctuations"),
            seconds=clock.total,
            state=state,
            output=output,
            phases=clock.laps,
        )


@dataclass
class _Clock:
    laps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name], self._last = now - self._last, now

    @property
    def total(self) -> float:
        return sum(self.laps.values())
