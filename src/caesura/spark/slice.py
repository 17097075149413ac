"""The slice driver: one micro-batch in, one atomic commit out.

A slice takes three kinds of Spark jobs, side by side: one per query that writes its result rows, one that writes
all changes of all state tables, one that surveys the input. The manifest, written last, makes all of it visible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import perf_counter, time_ns

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import expr

from caesura import plan
from caesura.catalog import Stream
from caesura.operators.closed import Closed
from caesura.operators.join import Join
from caesura.operators.operator import Flow, State
from caesura.operators.released import Count, counts
from caesura.operators.rows import Rows
from caesura.planning.statistics_json import to_json
from caesura.progress import Progress
from caesura.spark.arrivals import Arrivals
from caesura.spark.compile import Compiled
from caesura.spark.contract import Contract
from caesura.spark.evaluate import evaluate, forgotten, rows_alone
from caesura.spark.idle import caught_up
from caesura.spark.manifest import Manifest, Promised, Seen, commit
from caesura.spark.quarantine import added, require_kept
from caesura.spark.sinks import ResultSink
from caesura.spark.state import StateFiles, Written
from caesura.spark.storage import Storage
from caesura.spark.survey import Survey, survey
from caesura.spark.traffic import origins, sent, statistics, stored

STATISTICS = "statistics.json"
"""What a run has measured, in its checkpoint."""


@dataclass(frozen=True)
class Target:
    """A query that runs, and where its rows go."""

    query: plan.Query
    sink: ResultSink


class SliceDriver:
    """Runs slices, each against the last committed manifest, which it alone replaces."""

    def __init__(
        self,
        spark: SparkSession,
        compiled: Compiled,
        targets: tuple[Target, ...],
        static: Mapping[plan.Plan, Rows],
        contracts: Mapping[str, Contract],
        storage: Storage,
        files: StateFiles,
        manifest: Manifest,
        report: Callable[[Progress], None],
        every_rule: bool,
    ) -> None:
        self._spark = spark
        self._compiled = compiled
        self._targets = targets
        self._static = static
        self._storage = storage
        self._files = files
        self._report = report
        self._every_rule = every_rule
        self._origins = origins(compiled) if every_rule else {}
        self._contracts = contracts
        self._last: Mapping[str, Survey] = {}
        self.manifest = manifest

    def recover(self) -> None:
        """Finish the last committed slice, in case the process died between its commit and that."""
        if self.manifest.slice >= 0:
            for target in self._targets:
                target.sink.publish(self.manifest.slice, None)
        self._files.sweep(self.manifest)

    def run(self, parts: Mapping[str, Rows], number: int, time: int) -> None:
        """One micro-batch, and when it came. Spark sends a batch again after a crash; one that was committed is
        done."""
        if number > self.manifest.slice:
            self._slice(parts, number, time)

    def end(self) -> None:
        """The inputs are exhausted and that is their end: the punctuation that matches everything."""
        if not self.manifest.ended:
            self._slice(None, self.manifest.slice + 1, time_ns() // 1000)

    def keep_statistics(self) -> None:
        """What was measured, for other checkpoints; this one has it in its manifest, from which it goes on."""
        self._storage.delete(STATISTICS)
        self._storage.write(to_json(statistics(self.manifest.seen)), STATISTICS)

    def _slice(self, parts: Mapping[str, Rows] | None, number: int, time: int) -> None:
        """`parts` is what each stream brings, None for the slice that ends them.

        A slice is mostly like the one before. So it is planned as if it were, while a survey counts whether that
        is right. If not, what was done is thrown away, and the slice is done again with what the survey found.
        """
        clock = _Clock()
        foreseen = self._foreseen(parts or {})
        done = self._attempt(parts, number, time, foreseen, clock, guessed=foreseen is not None)
        if not isinstance(done, _Done):
            self._files.discard(number)
            self._discard_results(number)
            done = self._attempt(parts, number, time, done, clock, guessed=False)
        assert isinstance(done, _Done)
        self._last = done.surveys
        self._commit(done)
        clock.lap("commit")
        self._report(self._progress(done, clock))

    def _foreseen(self, parts: Mapping[str, Rows]) -> dict[str, Survey] | None:
        """What the slice will bring if it is like the last; None where there is nothing to go by."""
        last = {name: self._last[name] for name in parts if name in self._last}
        alike = last.keys() == parts.keys() and all(each.ordinary and not each.dense for each in last.values())
        return {name: each.forecast() for name, each in last.items()} if alike else None

    def _early(
        self, pool: Executor, state: State, arrivals: Mapping[str, Arrivals], number: int
    ) -> Future[dict[str, int]] | None:
        """Write the results before anything is known of the slice, as if no row broke the contract: if they do not
        depend on what the slice closes, and can be taken back."""
        operators = (each for node, each in self._compiled.operators.items() if node not in self._static)
        unlikely = any(each.broken for each in self._last.values())
        repeatable = all(target.sink.repeatable for target in self._targets)
        if unlikely or not repeatable or not all(each.prompt for each in operators):
            return None
        unchecked = {name: each.unchecked() for name, each in arrivals.items()}
        flows = rows_alone(self._compiled, state, self._leaves(unchecked))
        return pool.submit(self._staged, flows, number)

    def _discard_results(self, number: int) -> None:
        for target in self._targets:
            target.sink.discard(number)

    def _attempt(
        self,
        parts: Mapping[str, Rows] | None,
        number: int,
        time: int,
        surveys: Mapping[str, Survey] | None,
        clock: _Clock,
        *,
        guessed: bool,
    ) -> _Done | Mapping[str, Survey]:
        """Everything but the commit. If the surveys were guessed and wrong, what was found instead."""
        state = self._files.open(self.manifest.tables)
        pool = ThreadPoolExecutor()
        early: Future[dict[str, int]] | None = None
        try:
            pasts = {
                name: contract.past(state, self.manifest.promised.get(name, Promised()), time)
                for name, contract in self._contracts.items()
            }
            arrivals = {
                name: Arrivals(self._contracts[name], rows, pasts[name]) for name, rows in (parts or {}).items()
            }
            if surveys is None:
                early = self._early(pool, state, arrivals, number)
                surveys = survey(self._spark, arrivals, self._last)
                if early is not None and any(each.broken for each in surveys.values()):
                    wait((early,))
                    self._discard_results(number)
                    state.forget()
                    early = None
            clock.lap("survey")
            aside = [each for name, found in surveys.items() for each in arrivals[name].set_aside(found)]
            require_kept(self._spark, self._compiled.streams.values(), aside, number)
            sources = {
                name: arrivals[name].source(state, surveys[name])
                if name in arrivals
                else contract.silent(state, pasts[name], end=parts is None)
                for name, contract in self._contracts.items()
            }
            if parts is not None:
                sources = caught_up(self._contracts, sources, time)
            flows, changes = evaluate(
                self._compiled, state, self._leaves({n: each.flow for n, each in sources.items()})
            )
            for source in sources.values():
                changes |= source.changes
            changes |= forgotten(self._compiled, state, flows, changes)
            clock.lap("plan")
            # The jobs do not need each other: while one is being planned, another runs. But rows that cannot be
            # taken back wait until it is known that they are right.
            at_once = not guessed or all(target.sink.repeatable for target in self._targets)
            output: dict[str, int] = {}
            written = Written()
            failure: Exception | None = None
            counted = self._counted(state, flows)
            state_job = pool.submit(self._files.write, number, changes, aside, counted, self._origins)
            survey_job = pool.submit(survey, self._spark, arrivals, self._last) if guessed else None
            try:
                if early is not None:
                    output = early.result()
                elif at_once:
                    output = self._staged(flows, number)
                clock.lap("results")
                written = state_job.result()
                clock.lap("state")
            except (PySparkException, Py4JError) as error:
                failure = error  # perhaps of a row that no operator was to see
            if survey_job is not None:
                guesses, surveys = surveys, survey_job.result()
                if not all(guess.foresees(surveys[name]) for name, guess in guesses.items()):
                    return surveys
            if failure is not None:
                raise failure
            if not at_once:
                output = self._staged(flows, number)
                clock.lap("results")
        except BaseException:
            if early is not None:
                wait((early,))
                self._discard_results(number)
            raise
        finally:
            pool.shutdown()
            state.forget()
        manifest = Manifest(
            slice=number,
            tables=self._files.versions(self.manifest.tables, changes, number, written),
            promised={name: source.promised for name, source in sources.items()},
            quarantined=added(self.manifest.quarantined, written.quarantined),
            released=added(self.manifest.released, written.released),
            seen=self._seen(surveys, time, written),
            ended=parts is None,
        )
        return _Done(manifest, surveys, output, written)

    def _seen(self, surveys: Mapping[str, Survey], time: int, written: Written) -> dict[str, Seen]:
        return stored(sent(self.manifest.seen, self._contracts, surveys, time), self._origins, written.open)

    def _counted(self, state: State, flows: Mapping[plan.Plan, Flow]) -> list[Count]:
        """What lets go of the rows of joins, as far as it is to be counted."""
        counted: list[Count] = []
        for node, join in self._compiled.operators.items():
            if isinstance(join, Join):
                inputs = tuple(flows[each] for each in plan.inputs(node))
                counted += counts(join, state, inputs, flows[node].new, every_rule=self._every_rule)
        return counted

    def _leaves(self, streams: Mapping[str, Flow]) -> dict[plan.Plan, Flow]:
        """A relation that never changes is known as a whole; to whoever takes it for a stream, all of it comes in
        the first slice."""
        first, ended = self.manifest.slice < 0, Closed(everything=True)
        leaves: dict[plan.Plan, Flow] = {
            node: Flow(rows, ended, finite=rows) if first else Flow(before=ended, finite=rows)
            for node, rows in self._static.items()
        }
        for node in self._compiled.nodes:
            if isinstance(node, plan.Scan) and isinstance(node.relation, Stream):
                flow = streams.get(node.relation.name, Flow())
                names = {column.name: f"{node.alias}.{column.name}" for column in node.relation.columns}
                rows = None if flow.rows is None else flow.rows.renamed(names)
                leaves[node] = Flow(rows, flow.new.renamed(names), flow.before.renamed(names))
        return leaves

    def _staged(self, flows: Mapping[plan.Plan, Flow], number: int) -> dict[str, int]:
        """Write the queries' result rows aside; how many they are."""
        output: dict[str, int] = {}
        for target in self._targets:
            rows = flows[target.query.plan].rows
            output[target.query.name] = 0
            if rows is not None:
                counted = Observation()
                target.sink.stage(number, rows.frame(self._spark).observe(counted, expr("count(*) AS n")))
                output[target.query.name] = int(counted.get["n"])
        return output

    def _commit(self, done: _Done) -> None:
        before, self.manifest = self.manifest, done.manifest
        commit(self._storage, done.manifest)
        for target in self._targets:
            target.sink.publish(done.manifest.slice, done.output[target.query.name])
        self._files.collect_garbage(before.tables, done.manifest.tables)

    def _progress(self, done: _Done, clock: _Clock) -> Progress:
        state = {name: version.rows for name, version in self.manifest.tables.items()}
        holds = {table.name: table.holds for table in self._files.tables}
        return Progress(
            slice=self.manifest.slice,
            rows_in=sum(each.rows for each in done.surveys.values()),
            rows_out=sum(done.output.values()),
            punctuations=sum(each.punctuations for each in done.surveys.values()),
            set_aside=done.written.quarantined,
            set_aside_total=self.manifest.quarantined,
            released=done.written.released,
            released_total=self.manifest.released,
            state_rows=sum(n for name, n in state.items() if holds[name] == "rows"),
            punctuation_rows=sum(n for name, n in state.items() if holds[name] == "punctuations"),
            seconds=clock.total,
            state=state,
            output=done.output,
            statistics=statistics(self.manifest.seen),
            phases=clock.laps,
        )


@dataclass(frozen=True)
class _Done:
    """A slice that is ready to be committed."""

    manifest: Manifest
    surveys: Mapping[str, Survey]
    output: Mapping[str, int]
    written: Written


@dataclass
class _Clock:
    laps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name] = self.laps.get(name, 0.0) + now - self._last
        self._last = now

    @property
    def total(self) -> float:
        return sum(self.laps.values())
