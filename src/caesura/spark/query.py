"""A running pipeline, with the handle that Spark's users know from `StreamingQuery`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from tempfile import TemporaryDirectory, mkdtemp
from threading import Event, Lock, Thread, get_ident
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.java import java
from caesura.progress import Progress
from caesura.spark.inputs import Inputs
from caesura.spark.reasons import SPARK_ERRORS, reason
from caesura.spark.slice import SliceDriver
from caesura.spark.state import StateFiles

_REMEMBERED = 100
_PATIENCE, _AGAIN = 5.0, 0.5
"""Seconds in which a slice may finish when the query is to stop, and between attempts to end it."""
_INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling: java.lang.InterruptedException"
_LONG = 3_600_000
"""Milliseconds."""
_FAILURES = (Exception,)
"""What a slice may end with: also what a listener raises that is told of it."""


class ContinuousQuery:
    """A pipeline that has been started. Names and behaviour follow Spark's `StreamingQuery`."""

    def __init__(
        self,
        name: str,
        spark: SparkSession,
        files: StateFiles,
        scratch: TemporaryDirectory[str] | None,
        held: ExitStack,
    ) -> None:
        """`held` is let go of at the end."""
        self.name = name
        self._spark = spark
        self._files = files
        self._held = held
        self._scratch = scratch  # a checkpoint that nobody asked to keep goes with the handle
        self._kept_quarantine: str | None = None
        self._recent: deque[Progress] = deque(maxlen=_REMEMBERED)
        self._streaming: StreamingQuery | None = None
        self._failure: CaesuraError | None = None
        self._stopped = False
        self._slicing = Lock()  # by a slice, while it runs
        self._slicer: int | None = None  # its thread
        self._tag = f"caesura {uuid4().hex}"
        self._started = Event()
        self._done = Event()

    @property
    def isActive(self) -> bool:
        return not self._done.is_set()

    @property
    def lastProgress(self) -> Progress | None:
        return self._recent[-1] if self._recent else None

    @property
    def recentProgress(self) -> list[Progress]:
        """The last slices, oldest first."""
        return list(self._recent)

    def exception(self) -> CaesuraError | None:
        """Why the query stopped, if it failed."""
        return self._failure

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; whether it has come. A failure is raised."""
        finished = self._done.wait(timeout)
        if self._failure is not None:
            raise self._failure
        return finished

    def processAllAvailable(self) -> None:
        """Wait until what the sources hold now has been processed."""
        if (streaming := self._streaming) is not None:
            try:
                streaming.processAllAvailable()
            except PySparkException:
                self._done.wait()  # the reason is what the slice failed with
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop after the slice that is being run, or without it if it takes longer than a few seconds. That is no
        failure; a restart on the same checkpoint continues there."""
        self._stopped = True
        if self._slicer == get_ident():  # who reports a progress asks for it; it cannot wait for itself
            Thread(target=self.stop, name=f"stop {self.name}", daemon=True).start()
            return
        if not self._slicing.acquire(timeout=_PATIENCE):
            while not self._slicing.acquire(timeout=_AGAIN):
                with suppress(*SPARK_ERRORS):
                    self._spark.sparkContext.cancelJobsWithTag(self._tag)  # those that it has by now
        self._slicing.release()
        if (streaming := self._streaming) is not None:
            with suppress(*SPARK_ERRORS):  # it may have ended before
                streaming.stop()
        self._done.wait()

    def quarantine(self) -> DataFrame:
        """What was set aside so far: slice, stream, reason, and the row as JSON or as it came."""
        return self._files.quarantine()

    @property
    def quarantine_path(self) -> str:
        """Where it lies: parquet files in the checkpoint or, if nobody asked to keep one, in a folder of their
        own, from the end of the query on. Any Spark can read them."""
        return self._kept_quarantine or self._files.quarantine_path

    def _record(self, progress: Progress) -> None:
        self._recent.append(progress)

    def _run(self, driver: SliceDriver, inputs: Inputs, trigger: Mapping[str, bool | str], end: bool) -> None:
        """Start reading. `end`: when the inputs are exhausted, take that as the end of the streams."""
        if driver.manifest.ended:
            self._finish()
            return
        if inputs.inputs:
            self._streaming = (
                inputs.union()
                .writeStream.foreachBatch(self._guarded(driver, inputs))
                .option("checkpointLocation", self._files.path("spark"))
                .queryName(self.name)
                .trigger(**trigger)  # type: ignore[arg-type]
                .start()
            )
            self._started.set()
        Thread(target=self._watch, args=(driver, end), name=f"caesura {self.name}", daemon=True).start()

    def _guarded(self, driver: SliceDriver, inputs: Inputs) -> Callable[[DataFrame, int], None]:
        def run(batch: DataFrame, number: int) -> None:
            self._started.wait()  # the first batch may be there before Spark has returned the query
            streaming = self._streaming
            assert streaming is not None

            def slice() -> None:
                with inputs.of_batch(batch, streaming) as parts:
                    driver.run(parts, number, inputs.time(streaming))

            if not self._ran(driver, slice, number):
                self._await_interruption()

        return run

    def _ran(self, driver: SliceDriver, slice: Callable[[], None], number: int) -> bool:
        """Run a slice; False if it was not, because the query is to stop."""
        with self._slicing:
            if self._stopped:
                return False
            self._spark.sparkContext.addJobTag(self._tag)
            self._slicer = get_ident()
            try:
                slice()
            except _FAILURES as error:
                committed = number <= driver.manifest.slice
                if self._stopped:  # what is committed is delivered by the next start
                    return committed
                self._failure = self._failure or _failed(number, error, committed=committed)
                raise
            finally:
                self._slicer = None
        return True

    def _await_interruption(self) -> None:
        """Spark takes a batch that returns for done, and one that fails for a failure, unless it was interrupted:
        which it is by who stops it. It looks for that in the text of what Python raises, with a pattern that
        overflows the stack on a text as long as the error itself has."""
        with suppress(*SPARK_ERRORS):
            java(self._spark, "java.lang.Thread").sleep(_LONG)
        raise RuntimeError(_INTERRUPTED)

    def _watch(self, driver: SliceDriver, end: bool) -> None:
        try:
            if self._streaming is not None:
                self._streaming.awaitTermination()
            if not self._stopped:
                driver.require_leases()  # Spark ends a query by itself when another is started on its checkpoint
            if end:
                self._ran(driver, driver.end, driver.manifest.slice + 1)
            driver.keep_statistics()
        except _FAILURES as error:
            if not self._stopped:
                self._failure = self._failure or _failed(driver.manifest.slice + 1, error)
        finally:
            self._finish()

    def _finish(self) -> None:
        try:
            with suppress(*_FAILURES):  # of a disk or a Spark that is gone
                self._keep_quarantine()
        finally:
            self._held.close()
            # Spark's query holds what it calls for each batch, and that holds this: in two heaps, of which neither
            # can tell that it is garbage.
            self._streaming = None
            self._done.set()

    def _keep_quarantine(self) -> None:
        """What was set aside is not to go with a checkpoint that nobody asked to keep."""
        last = self.lastProgress
        if self._scratch is not None and last is not None and last.quarantined_total:
            folder = f"{mkdtemp(prefix='caesura-quarantine-')}/rows"
            self._files.quarantine().write.parquet(folder)
            self._kept_quarantine = folder


def _failed(slice: int, error: Exception, *, committed: bool = False) -> CaesuraError:
    if isinstance(error, CaesuraError):
        return error
    if committed:
        what = f"slice {slice} is committed, and its results cannot be delivered"
        help = "once the cause is gone, a new start with the same --checkpoint delivers them, and goes on"
    else:
        what = f"slice {slice} failed, nothing of it was committed"
        help = "once the cause is gone, a new start with the same --checkpoint continues at this slice"
    return CaesuraError(Diagnostic(Code.SLICE_FAILED, what, because=(reason(error),), help=(help,)))
