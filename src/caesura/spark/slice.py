"""The slice driver: one micro-batch in, one atomic commit out.

The manifest, written last, makes all that a slice wrote visible.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import time_ns

from caesura.checkpoint.failpoints import reach
from caesura.checkpoint.lease import Lease
from caesura.checkpoint.manifest import Counts, Manifest, Result, commit, forget_manifest, forget_manifests
from caesura.checkpoint.storage import Storage
from caesura.checkpoint.verify import forget_plans, require_log, spark_log
from caesura.operators.demand import Demanded
from caesura.operators.released import ON_DEMAND
from caesura.planning.statistics_json import to_json
from caesura.progress import Progress
from caesura.spark.attempt import Assembly, Attempt, Batch, Done
from caesura.spark.inputs import Brought
from caesura.spark.laps import Laps
from caesura.spark.survey import Survey
from caesura.spark.traffic import statistics

STATISTICS = "statistics.json"
"""What a run has measured, in its checkpoint."""

_MUCH = 0.5
"""More of a slice than this is not set aside without a warning."""

_LOG = logging.getLogger("caesura")


class SliceDriver:
    """Runs slices, each against the last committed manifest, which it alone replaces."""

    def __init__(
        self,
        assembly: Assembly,
        storage: Storage,
        leases: Sequence[Lease],
        manifest: Manifest,
        report: Callable[[Progress], None],
    ) -> None:
        """The first of the leases is that on the storage."""
        self._assembly = assembly
        self._storage = storage
        self._leases = leases
        self._report = report
        self._last: Mapping[str, Survey] = {}
        self.manifest = manifest

    def recover(self) -> None:
        """Go on from the last manifest alone. If something that it names is not as it was, nothing is changed.
        Else its slice is published, in case the process died between commit and that, and all is cleared that
        slices after it have left. A sink that cannot take rows back may have those of the next slice: it is to get
        the same again, so that Spark's plan of it stays."""
        require_log(self._storage, self.manifest)
        self._assembly.files.verify(self.manifest)
        last = self.manifest
        results = [(each.sink, last.results.get(each.query.name, Result())) for each in self._assembly.targets]
        for sink, result in results:
            sink.verify(last.slice, result, last.writer)
        for sink, result in results:
            sink.recover(last.slice, result, last.writer)
        self._assembly.files.sweep(self.manifest)
        forget_manifests(self._storage, self.manifest)
        if all(target.sink.repeatable for target in self._assembly.targets):
            forget_plans(self._storage, self.manifest)

    def run(self, parts: Mapping[str, Brought], number: int, time: int) -> None:
        """One micro-batch, and when it came. Spark sends a batch again after a crash; one that was committed is
        done."""
        if number > self.manifest.slice:
            self._slice(Batch(parts, number, time))

    def end(self) -> None:
        """The inputs are exhausted and that is their end: the punctuation that matches everything."""
        if not self.manifest.ended:
            self._slice(Batch(None, self.manifest.slice + 1, time_ns() // 1000))

    def keep_statistics(self) -> None:
        """What was measured, for other checkpoints; this one has it in its manifest, from which it goes on."""
        self._storage.delete(STATISTICS)
        self._storage.write(to_json(statistics(self.manifest.seen)), STATISTICS)

    def _slice(self, batch: Batch) -> None:
        laps = Laps()
        reach("begun")
        with Attempt(self._assembly, self.manifest, self._last, batch, laps) as attempt:
            done = attempt.run()
        self._last = done.surveys
        self._commit(done)
        laps.end("commit")
        for table, rules in done.written.released.items():
            if rows := rules.get("release"):
                _LOG.warning(
                    "slice %d: %d rows of `%s` were given up (OPTIONS (release …))", batch.number, rows, table
                )
        self._warn(done)
        self._report(self._progress(done, laps))

    def _warn(self, done: Done) -> None:
        """Of streams that seem to be declared wrongly."""
        for stream, reasons in done.written.quarantined.items():
            aside, arrived = sum(reasons.values()), done.surveys[stream].arrived
            if aside > _MUCH * arrived:
                shown = done.written.examples.get(stream, {})
                example = next((text for texts in shown.values() for text in texts), "")
                _LOG.warning(
                    "slice %d: %d of %d rows of `%s` were set aside; for example, %s",
                    done.manifest.slice,
                    aside,
                    arrived,
                    stream,
                    example,
                )

    def _commit(self, done: Done) -> None:
        before, slice = self.manifest, done.manifest.slice
        log = before.log if done.manifest.ended else spark_log(self._storage, before, slice)
        manifest = replace(done.manifest, log=log)
        self.require_leases()
        reach("ready")
        try:
            commit(self._storage, manifest, self._leases[0].desk)
        except OSError:
            self.require_leases()
            raise
        self.manifest = manifest
        reach("committed")
        for target in self._assembly.targets:
            target.sink.publish(slice, self.manifest.results[target.query.name])
        reach("published")
        forget_manifest(self._storage, slice - 2)
        self._assembly.files.collect_garbage(before.tables, self.manifest.tables)
        self._assembly.files.forget_aside(before, self.manifest)
        reach("cleaned")

    def require_leases(self) -> None:
        """That nobody has taken over."""
        for lease in self._leases:
            lease.require()

    def _demand(self, counted: Counts) -> dict[str, dict[str, int]]:
        """What was counted of joins with demand, and how many rows wait in them."""
        found: dict[str, dict[str, int]] = {}
        for join in self._assembly.compiled.operators.values():
            if isinstance(join, Demanded):
                for table in join.suspended.values():
                    version = self.manifest.tables.get(table.name)
                    found[table.name] = {"suspended": 0 if version is None else version.rows}
                for part in join.tree.below:
                    if part.made is not None:
                        found[part.made.name] = {}
        return {name: {**known, **counted.get(name, {})} for name, known in found.items()}

    def _progress(self, done: Done, laps: Laps) -> Progress:
        state = {name: version.rows for name, version in self.manifest.tables.items()}
        output = {name: result.rows for name, result in self.manifest.results.items()}
        holds = {table.name: table.holds for table in self._assembly.files.tables}
        return Progress(
            slice=self.manifest.slice,
            rows_in=sum(each.rows for each in done.surveys.values()),
            rows_out=sum(output.values()),
            punctuations=sum(each.punctuations for each in done.surveys.values()),
            set_aside=done.written.quarantined,
            set_aside_total=self.manifest.quarantined,
            examples=self.manifest.examples,
            released=_without_demand(done.written.released),
            released_total=_without_demand(self.manifest.released),
            demand=self._demand(done.written.released),
            demand_total=self._demand(self.manifest.released),
            state_rows=sum(n for name, n in state.items() if holds[name] == "rows"),
            punctuation_rows=sum(n for name, n in state.items() if holds[name] == "punctuations"),
            seconds=laps.total,
            state=state,
            output=output,
            statistics=statistics(self.manifest.seen),
            phases=laps.seconds,
        )


def _without_demand(counted: Counts) -> dict[str, dict[str, int]]:
    """What let go of rows."""
    rules = {table: {rule: n for rule, n in of.items() if rule not in ON_DEMAND} for table, of in counted.items()}
    return {table: of for table, of in rules.items() if of}
