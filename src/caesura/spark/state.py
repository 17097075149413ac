"""State tables on disk: parts that slices wrote, and one job per slice that writes all that it changes.

The mirror of the input: as all streams come in as one tagged union, all changes of a slice go out as one, in one
Spark job, partitioned by table. Reading a table starts from files, so no lineage crosses slices.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import sha256
from itertools import count

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import expr

from caesura.checkpoint.damage import damaged
from caesura.checkpoint.manifest import (
    MANIFESTS,
    Counts,
    Examples,
    Manifest,
    Part,
    TableVersion,
    last_manifest,
    manifest_name,
    written_by,
)
from caesura.checkpoint.storage import File, Storage, files_of, visible
from caesura.checkpoint.tables import TableFiles, keep_tables
from caesura.checkpoint.verify import STATE, require_state
from caesura.operators.intervals import MOST, interval_table
from caesura.operators.operator import Changes, Held, State, StateTable
from caesura.operators.released import Count, released
from caesura.operators.rows import Rows, hull, made, quote, text, union
from caesura.operators.together import side_by_side
from caesura.spark import spans
from caesura.spark.contents import SLICE_OF_FILE, quarantine_paths
from caesura.spark.layout import own_layout, shared_layout
from caesura.spark.purge import PurgePolicy
from caesura.spark.quarantine import QUARANTINE, Aside, counts, examples
from caesura.spark.storage import make_ready, row_counts
from caesura.spark.width import width

_WRITTEN = re.compile(r"[0-9]{10}-[0-9a-z]+")
"""A folder of ours. What has another name is not."""
_TOGETHER = 8
"""Tables that one job writes."""
_FIGURE, _WIDE = "figure", "wide interval"
"""Columns that are not written."""


@dataclass(frozen=True)
class WrittenTable:
    """What a slice wrote to a table, as far as the driver knows: a count, its files, and the longest intervals."""

    rows: int = 0
    files: tuple[File, ...] = ()
    spans: spans.Known = ()
    writer: str = ""
    """Marks the folder that they are in."""


@dataclass(frozen=True)
class Written:
    """What a slice wrote to each table, and what it set aside."""

    tables: Mapping[str, WrittenTable] = field(default_factory=dict)
    quarantined: Counts = field(default_factory=dict)
    examples: Examples = field(default_factory=dict)
    released: Counts = field(default_factory=dict)
    """Which rows left the state of joins: table → rule → number."""
    open: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many values there are in a state that was written anew: table → column → number."""

    def __or__(self, other: Written) -> Written:
        """Both, of different tables."""
        mine, theirs = (vars(each) for each in (self, other))
        return Written(**{name: {**mine[name], **theirs[name]} for name in mine})


def _id(name: str) -> str:
    """What a table is called in folders: by its name alone, whatever other tables there are."""
    return sha256(name.encode()).hexdigest()[:8]


class StateFiles:
    """The state tables of one pipeline in its checkpoint."""

    def __init__(
        self,
        spark: SparkSession,
        storage: Storage,
        tables: tuple[StateTable, ...],
        policy: PurgePolicy,
        writer: str = "writer",
    ) -> None:
        """`writer` marks the folders that are written."""
        self._spark = spark
        self._storage = storage
        self._tables = {table.name: table for table in (*tables, QUARANTINE)}
        self._ids = {name: _id(name) for name in self._tables} | {QUARANTINE.name: QUARANTINE.name}
        self._folders = {name: f"table={id}" for name, id in self._ids.items()}
        self._policy = policy
        self.writer = writer
        self._layouts = {table.name: shared_layout(table) for table in tables}
        self._layouts[QUARANTINE.name] = own_layout(QUARANTINE)

    def declare(self) -> None:
        """Write down which tables there are."""
        keep_tables(
            self._storage,
            {
                name: TableFiles(self._folders[name], table.holds, layout.schema, layout.read)
                for name, table in self._tables.items()
                for layout in (self._layouts[name],)
            },
        )

    def open(self, versions: Mapping[str, TableVersion], arrived: int = 0) -> State:
        """`arrived`: the rows and punctuations of the last slice."""
        held = {name: self._held(name, versions.get(name, TableVersion()), arrived) for name in self._tables}
        return State(self._spark, held)

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return tuple(self._tables.values())

    def write(
        self,
        slice: int,
        changes: Changes,
        aside: Sequence[Aside] = (),
        counted: Sequence[Count] = (),
        values_of: Mapping[str, Collection[str]] = {},
        largest: int = 0,
    ) -> Written:
        """Write what the slice changes and sets aside, and count what else is to be counted. Of many tables
        several jobs write some each: a statement is planned by one core.

        `values_of`: the columns whose different values are counted, roughly, where their table is written anew.
        `largest`: so many rows at most has a table afterwards.
        """
        # Without those that have no rows, and those that the manifest has.
        rows = {n: each for n, each in changes.items() if each.rows is not None and each.runs is None}
        names = [*rows]
        groups = [names[at : at + _TOGETHER] for at in range(0, max(1, len(names)), _TOGETHER)]
        parts = [{name: rows[name] for name in group} for group in groups]

        def write(i: int) -> Written:
            if i == 0:
                return self._write(slice, self.writer, parts[i], aside, counted, values_of, largest)
            return self._write(slice, f"{self.writer}x{i}", parts[i], (), (), values_of, largest)

        return reduce(Written.__or__, side_by_side(self._spark, write, range(len(parts))))

    def _write(
        self,
        slice: int,
        writer: str,
        changes: Changes,
        aside: Sequence[Aside],
        counted: Sequence[Count],
        values_of: Mapping[str, Collection[str]],
        largest: int,
    ) -> Written:
        """By one job."""
        tables = {name: change.rows for name, change in changes.items() if change.rows is not None}
        if (quarantine := union(each.rows for each in aside)) is not None:
            tables[QUARANTINE.name] = quarantine
        tables = {name: tables[name] for name in self._balanced(tables)}
        anew = [name for name in tables if name in changes and changes[name].rewrite]
        intervals = [name for name in anew if self._tables[name].intervals_of is not None]
        figures = tuple(dict.fromkeys(rows for each in counted for rows in each.tables))
        written = (self._tagged(name, rows, measured=name in intervals) for name, rows in tables.items())
        tagged = union((*written, *map(_figure, count(), figures)))
        if tagged is None:
            return Written()
        observed = Observation()
        metrics = [f"count_if({self._mine(name)}) AS n{i}" for i, name in enumerate(tables)]
        metrics += (f"{spans.longest(_WIDE, self._ids[name])} AS s{i}" for i, name in enumerate(intervals))
        columns = [(name, column) for name in anew for column in values_of.get(name, ())]
        metrics += (f"{self._values(name, column)} AS v{i}" for i, (name, column) in enumerate(columns))
        quarantined = self._mine(QUARANTINE.name)
        metrics += (f"count_if({quarantined} AND {each.condition}) AS q{i}" for i, each in enumerate(aside))
        metrics += (f"{each.example} AS e{i}" for i, each in enumerate(aside))
        metrics += (f"max(IF(table = '{_FIGURE} {i}', {_FIGURE}, NULL)) AS f{i}" for i, _ in enumerate(figures))
        frame = tagged.frame(self._spark).observe(observed, *map(expr, metrics)).coalesce(width(self._spark))
        if figures:
            frame = frame.where(f"NOT startswith(table, '{_FIGURE}')")
        writing = frame.drop(_FIGURE, _WIDE).write.mode("append")
        folder = written_by(slice, writer)
        if tables:
            make_ready(self._storage, STATE, folder)
            writing = writing.option("parquet.enable.dictionary", "false").partitionBy("table")
            if largest:
                writing = writing.option("maxRecordsPerFile", self._policy.piece(largest))
            writing.parquet(self._storage.path(STATE, folder))
            self._drop_if_empty(folder)
        else:
            writing.format("noop").save()
        found = observed.get
        known = {name: spans.read(found[f"s{i}"]) for i, name in enumerate(intervals)}
        sizes = {
            name: WrittenTable(found[f"n{i}"], files, known.get(name, ()), writer)
            for i, name in enumerate(tables)
            for files in (files_of(self._storage, STATE, folder, self._folders[name]),)
        }
        quarantined_now = counts((each, found[f"q{i}"]) for i, each in enumerate(aside))
        numbers = {rows: int(found[f"f{i}"]) for i, rows in enumerate(figures)}
        values: dict[str, dict[str, int]] = {}
        for i, (name, column) in enumerate(columns):
            values.setdefault(name, {})[column] = found[f"v{i}"]
        shown = examples((each, found[f"e{i}"]) for i, each in enumerate(aside))
        return Written(sizes, quarantined_now, shown, released(counted, numbers), values)

    def _balanced(self, names: Iterable[str]) -> list[str]:
        """In an order in which tasks get equally many rows. Each takes neighbours in the union, as many parts as
        the others take, be they large or small: so small tables are in the middle."""
        large: list[str] = []
        small: list[str] = []
        for name in names:
            few = self._tables[name].holds == "punctuations" or name == QUARANTINE.name
            (small if few else large).append(name)
        half = (len(large) + 1) // 2
        return [*large[:half], *small, *large[half:]]

    def _mine(self, name: str) -> str:
        return f"table = '{self._ids[name]}'"

    def _values(self, name: str, column: str) -> str:
        return f"approx_count_distinct(IF({self._mine(name)}, {self._layouts[name].read[column]}, NULL))"

    def versions(
        self, before: Mapping[str, TableVersion], changes: Changes, slice: int, written: Written
    ) -> dict[str, TableVersion]:
        """The tables after a slice; those it did not touch stay as they are."""
        after = dict(before)
        for name, change in changes.items():
            found = written.tables.get(name, WrittenTable())
            part = Part(slice, found.rows, found.files, found.writer or self.writer)
            earlier = before.get(name, TableVersion())
            known = {} if change.rows is None else dict(change.rows.ranges)
            ranges = [earlier.ranges] if earlier.rows and not change.rewrite else []
            ranges += [known] if change.rows is not None else []
            if change.runs is not None:
                listed = Part(slice, len(change.runs), (), self.writer)
                after[name] = TableVersion(listed, (), spans.written(change.runs), known)
            elif self._tables[name].piecewise and not (change.rewrite and part.rows <= self._policy.eager_rows):
                staying = () if change.rewrite else _without(earlier.parts, self._policy.due(earlier))
                after[name] = TableVersion(None, (*staying, *self._pieces(name, part)), (), hull(ranges))
            elif change.rewrite:
                after[name] = TableVersion(part, (), found.spans, known)
            else:  # without rows too: what the slice is done with is still held, and counts towards writing anew
                after[name] = replace(earlier, deltas=(*earlier.deltas, part), ranges=hull(ranges))
        return after

    def _pieces(self, name: str, part: Part) -> tuple[Part, ...]:
        """A part of many rows as one of each of its files, so that they can be written anew one by one."""
        if part.rows <= self._policy.eager_rows:
            return (part,)
        rows = row_counts(self._spark, [self._path(name, part, file) for file in part.files])
        return tuple(replace(part, rows=n, files=(file,)) for n, file in zip(rows, part.files, strict=True))

    def collect_garbage(self, before: Mapping[str, TableVersion], after: Mapping[str, TableVersion]) -> None:
        """Delete the parts that only the earlier slice's manifest named."""
        dropped = [(name, part) for name in before for part in _without(before[name].parts, after[name].parts)]
        live = {(name, part.folder) for name, version in after.items() for part in version.parts}
        for name, part in dropped:
            place = STATE, part.folder, self._folders[name]
            if (name, part.folder) in live:
                for file in part.files:
                    self._storage.delete(*place, file.name)
            else:
                self._storage.delete(*place)
        for folder in {part.folder for _, part in dropped}:
            self._drop_if_empty(folder)

    def aside(self, before: Manifest, slice: int, written: Written) -> tuple[str, ...]:
        """The folders with what was set aside, the last of them."""
        mine = [written_by(slice, self.writer)] if written.quarantined else []
        return (*before.aside, *mine)[-self._policy.keep_quarantined :]

    def forget_aside(self, before: Manifest, after: Manifest) -> None:
        for folder in before.aside:
            if folder not in after.aside:
                self._storage.delete(STATE, folder, self._folders[QUARANTINE.name])
                self._drop_if_empty(folder)

    def _drop_if_empty(self, folder: str) -> None:
        if not any(name.startswith("table=") for name in self._storage.names(STATE, folder)):
            self._storage.delete(STATE, folder)

    def verify(self, last: Manifest) -> None:
        """That all is there that was there when the last slice was committed."""
        if unknown := last.tables.keys() - self._folders.keys():
            path = self._storage.path(MANIFESTS, manifest_name(last.slice))
            raise damaged(path, f"it has a table `{min(unknown)}`, which no query needs")
        require_state(self._storage, self._folders, last)

    def sweep(self, last: Manifest) -> None:
        """Delete what a process left behind that died before or after the commit of a slice. What has another name
        than a slice is not ours."""
        live: dict[tuple[str, str], set[str]] = {}
        for name, version in last.tables.items():
            for part in version.parts:
                files = live.setdefault((part.folder, self._folders[name]), set())
                files |= {file.name for file in part.files}
        aside = {(folder, self._folders[QUARANTINE.name]) for folder in last.aside}
        for folder in self._storage.names(STATE):
            if _WRITTEN.fullmatch(folder) is None:
                continue
            for table in self._storage.names(STATE, folder):
                if (folder, table) in live:
                    self._sweep(live[folder, table], folder, table)
                elif (folder, table) not in aside:
                    self._storage.delete(STATE, folder, table)
            if not self._storage.names(STATE, folder):
                self._storage.delete(STATE, folder)

    def _sweep(self, live: Collection[str], *folder: str) -> None:
        for file in self._storage.names(STATE, *folder):
            if visible(file) and file not in live:
                self._storage.delete(STATE, *folder, file)

    def quarantine(self) -> DataFrame:
        """What was set aside by the slices committed so far."""
        paths = quarantine_paths(self._storage, self._folders[QUARANTINE.name], last_manifest(self._storage))
        names = [quote(column.name) for column in QUARANTINE.columns]
        if not paths:
            nothing = ", ".join(f"'' AS {name}" for name in names)
            return self._spark.sql(f"SELECT 0L AS slice, {nothing}").where("false")
        files = self._spark.read.schema(self._layouts[QUARANTINE.name].schema).parquet(*paths)
        return files.selectExpr(f"{SLICE_OF_FILE} AS slice", *names)

    @property
    def quarantine_path(self) -> str:
        return self._storage.path(STATE, "*", self._folders[QUARANTINE.name])

    def path(self, *names: str) -> str:
        return self._storage.path(*names)

    def _held(self, name: str, version: TableVersion, arrived: int) -> Held:
        interval = self._tables[name].intervals_of
        rewrite = self._policy.rewrite(version, self._tables[name], arrived)
        compact = not version.deltas
        if interval is None and self._tables[name].piecewise and not rewrite:
            due = self._policy.due(version)
            piece, rest = (self._rows_of(name, parts, version) for parts in (due, _without(version.parts, due)))
            return Held(self._rows_of(name, version.parts, version), rewrite, piece, rest, compact)
        if interval is None:
            return Held(self._rows_of(name, version.parts, version), rewrite, compact=compact)
        _, type = interval
        rows, known = self._intervals_of(name, version), spans.intervals(version.spans, type)
        if not type.enumerable:
            return Held(rows, rewrite, compact=compact, spans=known)
        # Every interval of an enumerable type is closed; others may have open ends, which no known interval has.
        runs = spans.runs(version.spans, type) if version.listed and compact else None
        return Held(rows, rewrite, compact=compact, spans=known, wide_known=len(known) < MOST, runs=runs)

    def _intervals_of(self, name: str, version: TableVersion) -> Rows | None:
        interval = self._tables[name].intervals_of
        if version.spans and version.listed and interval is not None and interval[1].enumerable:
            listed = interval_table(interval[0], spans.intervals(version.spans, interval[1]))
            deltas = tuple(part for part in version.deltas if part.rows)
            return union((listed, self._rows_of(name, deltas, version)))
        return self._rows_of(name, version.parts, version)

    def _rows_of(self, name: str, parts: tuple[Part, ...], version: TableVersion) -> Rows | None:
        if not parts:
            return None
        layout = self._layouts[name]
        return layout.as_read(made(layout.columns, lambda: self._read(name, parts))).ranging(version.ranges)

    def _read(self, name: str, parts: tuple[Part, ...]) -> DataFrame:
        paths = [self._path(name, part, file) for part in parts for file in part.files]
        return self._spark.read.schema(self._layouts[name].schema).parquet(*paths)

    def _path(self, name: str, part: Part, file: File) -> str:
        return self._storage.path(STATE, part.folder, self._folders[name], file.name)

    def _tagged(self, name: str, rows: Rows, *, measured: bool) -> Rows:
        """`measured`: with the intervals that the driver may want to know."""
        more = {"table": text(self._ids[name])}
        if measured and (interval := self._tables[name].intervals_of) is not None:
            more[_WIDE] = spans.wide(*interval, self._ids[name])
        return self._layouts[name].as_written(rows, more)


def _without(parts: tuple[Part, ...], others: tuple[Part, ...]) -> tuple[Part, ...]:
    gone = set(others)
    return tuple(part for part in parts if part not in gone)


def _figure(number: int, rows: Rows) -> Rows:
    """The number of rows of a table that is not written."""
    counted = rows.summary({_FIGURE: "count(*)"})
    return counted.project({"table": text(f"{_FIGURE} {number}"), _FIGURE: _FIGURE})
