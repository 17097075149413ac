"""A test is a script: add rows and punctuations slice by slice, run, look at rows, state and quarantine, restart.

    script = Script(spark, folder, "CREATE STREAM bid (…) FROM FILES bid; …; INSERT INTO out SELECT …")
    script.slice(bid=[{"auction": 1, "price": 5.0}, '{"auction": 1}'])
    script.run_to_end()
    assert script.rows("out") == [{"auction": 1, "price": 5.0}]

Streams are folders of JSON files below the script's folder, one file a slice. The Spark is a real one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession

from caesura.catalog import Stream
from caesura.progress import Progress
from caesura.session import Prepared, Session
from caesura.spark.purge import PurgePolicy
from caesura.spark.query import ContinuousQuery
from caesura.spark.run import Settings, start
from caesura.terminal import print_rows
from caesura.testing.slices import FIRST_MODIFIED

Item: TypeAlias = Mapping[str, object] | str
"""A row, or the text of a punctuation."""

CORRUPT = "no JSON at all"
"""In the place of a row: a line that cannot be parsed."""
STREAM_OF = r"USING json LOCATION '\1' OPTIONS (maxFilesPerTrigger 1)"
"""What `FROM FILES bid` in a script's text stands for: a micro-batch per file."""


class Script:
    """`text` is the pipeline; its stream `bid` is read from the folder `bid`, as `STREAM_OF` says."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        text: str,
        *,
        purge: PurgePolicy | None = None,
        every_order: bool = False,
        fewest_schemes: bool = False,
        every_rule: bool = False,
        take_over: bool = False,
    ) -> None:
        self.spark = spark
        self.folder = folder
        self.file = folder / "pipeline.sql"
        self.checkpoint = folder / "checkpoint"
        self.progress: list[Progress] = []
        self._purge = purge or PurgePolicy()
        self._every_order = every_order
        self._fewest_schemes = fewest_schemes
        self._every_rule = every_rule
        self._take_over = take_over
        self._slices = 0
        folder.mkdir(parents=True, exist_ok=True)
        self.file.write_text(re.sub(r"FROM FILES (\w+)", STREAM_OF, text), encoding="utf-8")

    @property
    def prepared(self) -> Prepared:
        return Session(self.spark).file(self.file)

    def slice(self, **arrivals: Sequence[Item]) -> None:
        """What arrives together, by stream. Every stream gets a file, so that streams stay in step."""
        if unknown := arrivals.keys() - set(self.streams):
            raise ValueError(f"the script has no stream {', '.join(unknown)}")
        for name in self.streams:
            items = arrivals.get(name, ())
            self._write(
                name, [item if item is CORRUPT else json.dumps(_line(item), default=str) for item in items]
            )
        self._slices += 1

    @cached_property
    def streams(self) -> tuple[str, ...]:
        relations = self.prepared.pipeline.catalog.values()
        return tuple(each.name for each in relations if isinstance(each, Stream) and each.origin is not None)

    def _write(self, name: str, lines: Sequence[str]) -> None:
        directory = self.folder / name
        directory.mkdir(exist_ok=True)
        file = directory / f"slice-{self._slices:05}.json"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        os.utime(file, (FIRST_MODIFIED + self._slices, FIRST_MODIFIED + self._slices))

    def start(self, *, until_end: bool = False, add_queries: bool = False) -> ContinuousQuery:
        """Start on the script's checkpoint, or continue there."""
        prepared = self.prepared
        prepared.require_safe()
        settings = Settings(
            folder=str(self.folder),
            checkpoint=str(self.checkpoint),
            until_end=until_end,
            show=print_rows,
            report=self.progress.append,
            purge=self._purge,
            every_order=self._every_order,
            fewest_schemes=self._fewest_schemes,
            every_rule=self._every_rule,
            take_over=self._take_over,
            add_queries=add_queries,
        )
        return start(self.spark, prepared.pipeline, settings)

    def run(self, *, add_queries: bool = False) -> ContinuousQuery:
        """Process the slices so far, and stop: more may come."""
        query = self.start(add_queries=add_queries)
        query.processAllAvailable()
        query.stop()
        return query

    def run_to_end(self) -> ContinuousQuery:
        """Process the slices so far; then the streams have ended."""
        query = self.start(until_end=True)
        query.awaitTermination()
        return query

    def rows(self, sink: str, slice: int | None = None) -> list[dict[str, object]]:
        """What a parquet sink holds, sorted: of all slices, or of one."""
        pattern = "slice-*" if slice is None else f"slice-{slice:010}-*"
        files = sorted(str(file) for file in (self.folder / sink).glob(pattern))
        if not files:
            return []
        found = [row.asDict(recursive=True) for row in self.spark.read.parquet(*files).collect()]
        return sorted(found, key=lambda row: [(value is not None, value) for value in row.values()])

    def quarantine(self, query: ContinuousQuery) -> list[tuple[int, str, str, str]]:
        """(slice, stream, reason, row), sorted."""
        found = query.quarantine().select("slice", "stream", "reason", "row").collect()
        return sorted((row["slice"], row["stream"], row["reason"], row["row"]) for row in found)


def _line(item: Item) -> Mapping[str, object]:
    return {"_punctuation": item} if isinstance(item, str) else item
