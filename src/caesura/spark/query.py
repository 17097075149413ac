"""A running pipeline, with the handle that Spark's users know from `StreamingQuery`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from threading import Event, Thread

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.progress import Progress
from caesura.spark.inputs import Inputs
from caesura.spark.reasons import SPARK_ERRORS, reason
from caesura.spark.slice import SliceDriver
from caesura.spark.state import StateFiles

_REMEMBERED = 100
_FAILURES = (*SPARK_ERRORS, OSError, CaesuraError)
"""What a slice may end with."""


class ContinuousQuery:
    """A pipeline that has been started. Names and behaviour follow Spark's `StreamingQuery`."""

    def __init__(
        self, name: str, files: StateFiles, scratch: TemporaryDirectory[str] | None, held: ExitStack
    ) -> None:
        """`held` is let go of at the end."""
        self.name = name
        self._files = files
        self._held = held
        self._scratch = scratch  # a checkpoint that nobody asked to keep goes with the handle
        self._recent: deque[Progress] = deque(maxlen=_REMEMBERED)
        self._streaming: StreamingQuery | None = None
        self._failure: CaesuraError | None = None
        self._stopped = False
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
        if self._streaming is not None and self.isActive:
            try:
                self._streaming.processAllAvailable()
            except PySparkException:
                self._done.wait()  # the reason is what the slice failed with
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop after the slice that is being committed; a restart on the same checkpoint continues there."""
        self._stopped = True
        if self._streaming is not None:
            self._streaming.stop()
        self._done.wait()

    def quarantine(self) -> DataFrame:
        """What was set aside so far: slice, stream, reason, and the row as JSON or as it came."""
        return self._files.quarantine()

    @property
    def quarantine_path(self) -> str:
        """Where it lies in the checkpoint: parquet files that any Spark can read."""
        return self._files.quarantine_path

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
            assert self._streaming is not None
            try:
                with inputs.of_batch(batch, self._streaming) as parts:
                    driver.run(parts, number, inputs.time(self._streaming))
            except _FAILURES as error:
                self._failure = _failed(number, error)
                raise

        return run

    def _watch(self, driver: SliceDriver, end: bool) -> None:
        try:
            if self._streaming is not None:
                self._streaming.awaitTermination()
            if end and not self._stopped:
                driver.end()
            driver.keep_statistics()
        except _FAILURES as error:
            self._failure = self._failure or _failed(driver.manifest.slice + 1, error)
        finally:
            self._finish()

    def _finish(self) -> None:
        self._files.close()
        self._held.close()
        self._done.set()


def _failed(slice: int, error: Exception) -> CaesuraError:
    if isinstance(error, CaesuraError):
        return error
    return CaesuraError(
        Diagnostic(
            Code.SLICE_FAILED,
            f"slice {slice} failed, nothing of it was committed",
            because=(reason(error),),
            help=("once the cause is gone, a new start with the same --checkpoint continues at this slice",),
        )
    )
